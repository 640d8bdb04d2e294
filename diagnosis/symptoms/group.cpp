// Symptoms that only several ports together show: what they share is at fault (module, card, node,
// switch).
#include <algorithm>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

constexpr std::string_view kNoLeaf = "no other port of this node goes to the same switch";

Finding group_down(const Features& f) {
  if (f.group.same_leaf == 0) return unknown(kNoLeaf);
  return Checks(kNodePorts)
      .at_least("other ports to the same switch that went down at the same time",
                f.group.fell_together, 1);
}

Finding module_fell(const Features& f) {
  if (f.group.module_ports == 0)
    return not_applicable("no other port of this node shares the module");
  return Checks(kNodePorts)
      .at_least("other ports of this module that went down at the same moment", f.group.module_fell,
                1);
}
Finding card_fell(const Features& f) {
  if (f.group.card_ports == 0) return not_applicable("no other port of this node shares the card");
  return Checks(kNodePorts)
      .at_least("other ports of this card that went down at the same moment", f.group.card_fell, 1);
}
constexpr std::string_view kOnly = "the node has no other port";
Finding node_fell(const Features& f) {
  if (f.group.node_ports == 0) return not_applicable(kOnly);
  if (leaf_of(f.port, f.expected).empty()) return unknown("the switch is not known");
  return Checks(kNodePorts)
      .at_least("ports to other switches that went down at the same moment", f.group.node_fell, 1);
}
Finding fell_together(const Features& f) {
  if (f.group.node_ports == 0) return not_applicable(kOnly);
  if (f.group.unknown_fell == 0 && !leaf_of(f.port, f.expected).empty())
    return not_applicable("the switch is known");
  return Checks(kNodePorts)
      .at_least("other ports of this node that went down at the same moment", f.group.unknown_fell,
                1);
}

constexpr double kQuietS = 7200;   // this long without a loss together, and this many mean times
constexpr double kQuietRatio = 6;  // between them: it is over (0.25 % by chance, exp(-6))
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
        .below("seconds since the last simultaneous carrier loss",
               in_seconds(f.now - *f.group.last_flap), kQuietS, "s");
  const auto together = f.group.flaps_together;
  const double all = together + f.group.flaps_alone;
  return Checks(kNodePorts)
      .at_least("carrier losses simultaneous with another port", together, kTogether)
      .at_least("share of carrier losses that were simultaneous", all > 0 ? together / all : 0,
                kShare);
}

Finding group_errors(const Features& f) {
  if (f.group.same_leaf == 0 && f.group.errors_together == 0) return unknown(kNoLeaf);
  return Checks(kNodePorts)
      .at_least("other ports whose errors began within 15 min", f.group.errors_together, 1);
}

constexpr std::string_view kShared = "CorrOpt (shared component); judgement (times)";

constexpr Symptom kRows[] = {
    {kGroupDown, "group_down", "ports to the same switch went down together", kDown, &group_down,
     kLink, kShared, ""},
    {kModuleFell, "module_fell", "links of the same module went down at the same moment", kDown,
     &module_fell, kLink, kShared, ""},
    {kCardFell, "card_fell", "links of the same card went down at the same moment", kDown,
     &card_fell, kLink, kShared, ""},
    {kNodeFell, "node_fell", "links to other switches went down at the same moment", kDown,
     &node_fell, kLink, kShared, ""},
    {kFellTogether, "fell_together", "other links of this node went down at the same moment", kDown,
     &fell_together, kLink, kShared, ""},
    {kGroupFlaps, "group_flaps", "several links of this node flap together", kAny, &group_flaps,
     kLink, kShared, ""},
    {kGroupErrors, "group_errors", "errors on several links of this node began at the same time",
     kAny, &group_errors, kFec | kCounters, kShared, ""},
};

}  // namespace

constinit const std::span<const Symptom> kGroupFamily = kRows;

}  // namespace linkhealth::symptoms
