// Symptoms that only several ports show: a common cause at the far switch.
#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr std::string_view kNoLeaf = "no other port of this node goes to the same switch";

Finding group_down(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.group.same_leaf == 0 && v.group.fell_together == 0) return not_known(kNoLeaf);
  return Case(Reader::kNode)
      .at_least("other ports to the same switch that fell at the same time", static_cast<double>(v.group.fell_together),
                1)
      .close();
}

constexpr Knob kFlapKnobs[] = {{"together", 2, 1, 100, "", "losses at the same moment as another port's"},
                               {"share", 0.4, 0.1, 1, "", "of this port's losses"}};
Finding group_flaps(const PortView& v, KnobValues k) {
  if (v.group.same_leaf == 0 && v.group.flaps_together == 0) return not_known(kNoLeaf);
  const double all = static_cast<double>(v.group.flaps_together + v.group.flaps_alone);
  return Case(Reader::kNode)
      .at_least("carrier losses together with another port", static_cast<double>(v.group.flaps_together), k[0])
      .at_least("share of the losses", all > 0 ? static_cast<double>(v.group.flaps_together) / all : 0, k[1])
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
    {kGroupFlaps, "group_flaps", "ports to the same switch flap together", kFlapKnobs, &group_flaps, ""},
    {kGroupErrors, "group_errors", "ports to the same switch have errors since the same time", {}, &group_errors, ""},
};

}  // namespace

constinit const std::span<const Symptom> kGroupFamily = kRows;

}  // namespace linkhealth::symptoms
