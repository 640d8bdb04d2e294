#include "model/doctor.h"

namespace linkhealth {

std::string_view to_string(Visibility state) {
  switch (state) {
    case Visibility::kSeen:
      return "seen";
    case Visibility::kPartly:
      return "partly";
    case Visibility::kHidden:
      return "hidden";
    case Visibility::kNotOffered:
      return "not_offered";
    case Visibility::kNoWord:
      return "no_word";
    case Visibility::kNotUsed:
      return "not_used";
  }
  return "";
}

}  // namespace linkhealth
