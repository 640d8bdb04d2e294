// Symptoms that only several ports show: a common cause at the far switch.
#include <algorithm>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr StaticText kNoLeaf = "no other port of this node goes to the same switch";

Finding group_down(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.group.same_leaf == 0 && v.group.fell_together == 0) return not_known(kNoLeaf);
  return Case(Reader::kNode)
      .at_least("other ports to the same switch that fell at the same time",
                static_cast<double>(v.group.fell_together), 1)
      .close();
}

constexpr Knob kFlapKnobs[] = {
    {"together", 2, 1, 100, "", "losses at the same moment as another port's"},
    {"share", 0.4, 0.1, 1, "", "of this port's losses"},
    {"quiet_s", 7200, 600, 86400, "s", "so long without one, and"},
    {"quiet_ratio", 6, 2, 100, "", "so many of the mean times between them: it is over"}};
/// As a single port's flaps are over: by chance alone a switch that still restarts is so quiet in
/// 0.25 % of the cases.
bool flaps_are_over(const PortView& v, KnobValues k) {
  const GroupStats& group = v.group;
  if (!group.first_flap || !group.last_flap || group.flaps_together < 2) return false;
  const double between_s = in_seconds(*group.last_flap - *group.first_flap) /
                           static_cast<double>(group.flaps_together - 1);
  return in_seconds(v.now - *group.last_flap) > std::max(k[2], k[3] * between_s);
}

Finding group_flaps(const PortView& v, KnobValues k) {
  if (v.group.same_leaf == 0 && v.group.flaps_together == 0) return not_known(kNoLeaf);
  if (flaps_are_over(v, k))
    return Case(Reader::kNode)
        .below("seconds since the last loss together", in_seconds(v.now - *v.group.last_flap), k[2],
               "s")
        .close();
  const double all = static_cast<double>(v.group.flaps_together + v.group.flaps_alone);
  return Case(Reader::kNode)
      .at_least("carrier losses together with another port",
                static_cast<double>(v.group.flaps_together), k[0])
      .at_least("share of the losses",
                all > 0 ? static_cast<double>(v.group.flaps_together) / all : 0, k[1])
      .close();
}

Finding group_errors(const PortView& v, KnobValues) {
  if (v.group.same_leaf == 0 && v.group.errors_together == 0) return not_known(kNoLeaf);
  return Case(Reader::kNode)
      .at_least("other ports to the same switch whose errors began within 15 min",
                static_cast<double>(v.group.errors_together), 1)
      .close();
}

constexpr Symptom kRows[] = {
    {kGroupDown, "group_down", "ports to the same switch fell together", {}, &group_down, ""},
    {kGroupFlaps, "group_flaps", "ports to the same switch flap together", kFlapKnobs, &group_flaps,
     ""},
    {kGroupErrors,
     "group_errors",
     "ports to the same switch have errors since the same time",
     {},
     &group_errors,
     ""},
};

}  // namespace

constinit const std::span<const Symptom> kGroupFamily = kRows;

}  // namespace linkhealth::symptoms
