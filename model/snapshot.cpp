#include "model/snapshot.h"

#include <algorithm>

#include <array>

namespace linkhealth {

namespace {
constexpr std::array<std::string_view, 16> kPortEventNames = {
    "carrier_down",  "carrier_up",     "admin_down",      "admin_up",
    "port_error",    "port_active",    "device_fatal",    "device_gone",
    "device_added",  "module_removed", "module_inserted", "kernel_log",
    "monitor_start", "monitor_stop",   "lid_change",      "sm_change"};
}  // namespace

PortKey PortId::key() const { return verbs ? device + "/" + std::to_string(port) : device; }

std::string PortId::stable_key() const {
  return pci.empty() ? key() : pci + "/" + std::to_string(port);
}

bool has_link(std::string_view phys_state) {
  return phys_state == "LinkUp" || phys_state == "LinkErrorRecovery";
}

bool is_unmanaged(const LinkSample& link) {
  return link.phys_state == "LinkUp" && (link.state == "INIT" || link.state == "ARMED");
}

bool is_set_down(const LinkSample& link, std::string_view link_layer) {
  return link.admin_up == false || (link_layer == "InfiniBand" && link.phys_state == "Disabled");
}

bool is_no_change(std::string_view driver, std::uint64_t gains, std::uint64_t losses) {
  return driver == "mlx5_core" && gains == losses;
}

std::string_view to_string(PortEventKind kind) {
  return kPortEventNames.at(static_cast<std::size_t>(kind));
}

std::optional<PortEventKind> parse_port_event_kind(std::string_view text) {
  for (std::size_t i = 0; i < kPortEventNames.size(); ++i)
    if (kPortEventNames[i] == text) return static_cast<PortEventKind>(i);
  return std::nullopt;
}

std::vector<Gap> gaps_of(const PortKey& port, const SourceMap& sources) {
  std::vector<Gap> gaps;
  for (const auto& [id, status] : sources)
    if (!status.reason.empty()) gaps.push_back({port, std::string(to_string(id)), status.reason});
  std::ranges::sort(gaps, {}, &Gap::probe);
  return gaps;
}

}  // namespace linkhealth
