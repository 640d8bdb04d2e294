#include "daemon/startup_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace linkhealth {

namespace {

std::string describe(const InventoryPort& port) {
  const PortId& id = port.id;
  std::string details;
  for (const std::string& detail :
       {id.netdev, id.pci, id.driver, port.slot.empty() ? "" : "slot " + port.slot})
    if (!detail.empty() && detail != id.key()) details += (details.empty() ? "" : ", ") + detail;
  return "  " + id.key() + (details.empty() ? "" : " (" + details + ")");
}

}  // namespace

std::vector<RememberedPort> ports_to_miss(const ReferenceState& known, WallTime now) {
  std::vector<RememberedPort> ports;
  for (const PortReferences& kept : known.ports) {
    PortId id = port_id_of(kept);
    // A port whose address another card got (model/history/port_moves.h) may now be at any address,
    // and may be passed on there.
    const bool is_placed = !id.pci.empty() && id.pci != id.guid;
    const Milliseconds unseen = now - kept.verbs_seen_at.value_or(kept.seen_at);
    if (kept.linked_at && !id.guid.empty() && is_placed)
      ports.push_back({std::move(id), std::max(unseen, Milliseconds::zero())});
  }
  return ports;
}

std::map<std::string, std::string> modules_before(const ReferenceState& known) {
  std::map<std::string, std::string> serials;
  for (const PortReferences& kept : known.ports)
    if (!kept.serial.empty()) serials.emplace(kept.port, kept.serial);
  return serials;
}

std::vector<std::string> introduce_node(const std::vector<InventoryPort>& ports,
                                        const SourceMap& node_sources) {
  std::vector<std::string> watched;
  std::vector<std::string> left_out;
  bool verbs = false;
  for (const InventoryPort& port : ports) {
    verbs = verbs || port.id.verbs;
    if (port.exempt_reason.empty()) {
      watched.push_back(describe(port));
    } else {
      left_out.push_back("  " + port.id.key() + ": " + port.exempt_reason);
    }
  }
  std::vector<std::string> lines;
  const bool searched = is_ok(node_sources, SourceId::kInventory);
  if (!verbs && searched)
    lines.push_back(watched.empty()
                        ? "no RDMA port and no physical Ethernet port on this node: waiting for one"
                        : "no RDMA port on this node: monitoring its physical Ethernet ports");
  const auto list = [&](const std::string& title, const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    lines.push_back(
        fmt::format("{} {} port{}:", title, entries.size(), entries.size() == 1 ? "" : "s"));
    lines.insert(lines.end(), entries.begin(), entries.end());
  };
  list("watching", watched);
  list("excluding", left_out);
  return lines;
}

std::vector<std::string> introduce_recording(const std::string& file, double speed,
                                             const Report& report) {
  return {fmt::format("playing {}: node {}, {} ports, {} s per second", file, report.node,
                      report.ports.size(), speed)};
}

Snapshot with_all_groups(const Snapshot& step, const Report& report) {
  Snapshot full;
  full.taken_at = step.taken_at;
  full.wall_time = step.wall_time;
  full.uptime_s = step.uptime_s;
  full.sources = report.sources;
  for (const auto& [key, sample] : step.ports) full.ports[key].id = sample.id;
  for (const PortReport& port : report.ports) {
    const auto at = step.ports.find(port.port);
    if (at == step.ports.end()) continue;
    full.ports[port.port] = port.latest;
    full.ports[port.port].id = at->second.id;
  }
  return full;
}

}  // namespace linkhealth
