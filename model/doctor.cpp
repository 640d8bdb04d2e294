#include "model/doctor.h"

namespace linkhealth {

std::string_view to_string(SourceState state) {
  switch (state) {
    case SourceState::kSeen:
      return "seen";
    case SourceState::kPartly:
      return "partly";
    case SourceState::kHidden:
      return "hidden";
    case SourceState::kNotOffered:
      return "not_offered";
    case SourceState::kNoWord:
      return "no_word";
    case SourceState::kNotUsed:
      return "not_used";
  }
  return "";
}

}  // namespace linkhealth
