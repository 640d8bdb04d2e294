// Symptoms that only several ports show: a common cause at the far switch.
#include <algorithm>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

constexpr std::string_view kNoLeaf = "no other port of this node goes to the same switch";

Finding group_down(const Features& f) {
  if (f.group.same_leaf == 0 && f.group.fell_together == 0) return unknown(kNoLeaf);
  return Checks(kNodePorts)
      .at_least("other ports to the same switch that fell at the same time", f.group.fell_together,
                1);
}

constexpr double kQuietS = 7200;   // so long without a loss together, and so many mean times
constexpr double kQuietRatio = 6;  // between them: it is over (by chance alone 0.25 %, exp(-6))
bool flaps_are_over(const Features& f) {
  const GroupStats& group = f.group;
  if (!group.first_flap || !group.last_flap || group.flaps_together < 2) return false;
  const double between_s =
      in_seconds(*group.last_flap - *group.first_flap) / (group.flaps_together - 1);
  return in_seconds(f.now - *group.last_flap) > std::max(kQuietS, kQuietRatio * between_s);
}

Finding group_flaps(const Features& f) {
  constexpr double kTogether = 2;  // losses at the same moment as another port's
  constexpr double kShare = 0.4;   // of this port's losses
  if (f.group.same_leaf == 0 && f.group.flaps_together == 0) return unknown(kNoLeaf);
  if (flaps_are_over(f))
    return Checks(kNodePorts)
        .below("seconds since the last loss together", in_seconds(f.now - *f.group.last_flap),
               kQuietS, "s");
  const auto together = f.group.flaps_together;
  const double all = together + f.group.flaps_alone;
  return Checks(kNodePorts)
      .at_least("carrier losses together with another port", together, kTogether)
      .at_least("share of the losses", all > 0 ? together / all : 0, kShare);
}

Finding group_errors(const Features& f) {
  if (f.group.same_leaf == 0 && f.group.errors_together == 0) return unknown(kNoLeaf);
  return Checks(kNodePorts)
      .at_least("other ports to the same switch whose errors began within 15 min",
                f.group.errors_together, 1);
}

constexpr std::string_view kShared = "CorrOpt (shared component); judgement (times)";

constexpr Symptom kRows[] = {
    {kGroupDown, "group_down", "ports to the same switch went down together", kDown, &group_down,
     kLink, kShared, ""},
    {kGroupFlaps, "group_flaps", "ports to the same switch flap together", kAny, &group_flaps,
     kLink, kShared, ""},
    {kGroupErrors, "group_errors", "ports to the same switch have errors since the same time", kAny,
     &group_errors, kFec | kCounters, kShared, ""},
};

}  // namespace

constinit const std::span<const Symptom> kGroupFamily = kRows;

}  // namespace linkhealth::symptoms
