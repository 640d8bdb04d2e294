#include "diagnosis/exempt.h"

namespace linkhealth {

std::string unexpected_note(const PortHistory& port, const ExpectedPort* expected,
                            bool plan_known) {
  const std::string& function = port.latest.id.function;
  const bool physical = function.empty() || function == "pf" || function == "vf";
  if (!plan_known || expected != nullptr || !physical || !port.latest.id.exempt.empty()) return "";
  return port.carrier.up == true ? "it has a link but is not in the configuration" : "";
}

/// Since the driver was loaded, or its card reset. An InfiniBand port has no carrier count, but a
/// count of losses (IBTA vol. 1, 16.1.3.5).
static bool had_link(const PortSample& port) {
  const auto counted = [&](std::string_view name) {
    return port.counters && port.counters->get(name).value_or(0) > 0;
  };
  if (port.id.link_layer == "InfiniBand" && counted("link_downed")) return true;
  if (counted("link_ext_down_count") || counted("link_down_events_phy")) return true;
  const std::uint64_t gains = port.link ? port.link->carrier_up_count.value_or(0) : 0;
  return gains > 0 &&
         !is_no_change(port.id.driver, gains, port.link->carrier_down_count.value_or(0));
}

std::string exempt_reason(const PortHistory& port, const ExpectedPort* expected, bool plan_known,
                          bool faulty) {
  const PortId& id = port.latest.id;
  if (!id.exempt.empty()) return id.exempt;
  if (id.function == "sf") return "subfunction: its physical function is monitored";
  if (port.carrier.was_up || port.carrier.up == true || port.carrier.last_up_at || faulty)
    return "";
  if (expected != nullptr) return "";
  const bool was_up = had_link(port.latest);
  if (plan_known) return "unused (not in plan, never linked)";
  const bool module = port.latest.module && port.latest.module->present;
  // A failed read does not refute an earlier one.
  const bool says_empty = port.latest.link && port.latest.link->down_reason &&
                          port.latest.link->down_reason->state == "No cable";
  const bool no_module = (port.latest.module && !module) || port.cage_empty || says_empty;
  if (was_up && !no_module) return "";
  if (port.carrier.up == false && no_module) return "unused (no module, never linked)";
  if (port.carrier.up == false) return "unused (never linked)";
  return "";
}

}  // namespace linkhealth
