#include "daemon/watched.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace linkhealth {

namespace {

std::string describe(const InventoryPort& port) {
  std::string text = "  " + port.id.key();
  std::string details;
  const auto add = [&](const std::string& detail) {
    if (!detail.empty() && detail != port.id.key())
      details += (details.empty() ? "" : ", ") + detail;
  };
  add(port.id.netdev);
  add(port.id.pci);
  add(port.id.driver);
  add(port.slot.empty() ? "" : "slot " + port.slot);
  return details.empty() ? text : text + " (" + details + ")";
}

}  // namespace

std::vector<RememberedPort> ports_to_miss(const ReferenceState& known, WallTime now) {
  std::vector<RememberedPort> ports;
  for (const PortReferences& kept : known.ports) {
    PortId id = port_id_of(kept);
    // One whose address another card got (model/history/port_moves.h) may be at any address now,
    // and lent there.
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
    lines.push_back(
        watched.empty()
            ? "no RDMA port on this node, and no physical Ethernet port to watch: waiting for one"
            : "no RDMA port on this node: watching its physical Ethernet ports");
  const auto list = [&](const std::string& title, const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    lines.push_back(
        fmt::format("{} {} port{}:", title, entries.size(), entries.size() == 1 ? "" : "s"));
    lines.insert(lines.end(), entries.begin(), entries.end());
  };
  list("watching", watched);
  list("leaving out", left_out);
  return lines;
}

std::vector<std::string> introduce_recording(const std::string& file, double speed,
                                             const Report& report) {
  return {fmt::format("playing {}: node {}, {} ports, {} s in a second", file, report.node,
                      report.ports.size(), speed)};
}

SnapshotFrame frame_of(const Snapshot& snapshot) {
  SnapshotFrame frame{snapshot.taken_at, snapshot.wall_time, snapshot.uptime_s, {}};
  frame.ports.reserve(snapshot.ports.size());
  for (const auto& [key, port] : snapshot.ports) frame.ports.emplace_back(key, port.id);
  return frame;
}

Snapshot with_all_groups(const SnapshotFrame& frame, const Report& report) {
  Snapshot full;
  full.taken_at = frame.taken_at;
  full.wall_time = frame.wall_time;
  full.uptime_s = frame.uptime_s;
  full.sources = report.sources;
  for (const auto& [key, id] : frame.ports) full.ports[key].id = id;
  for (const PortReport& port : report.ports) {
    const auto at = full.ports.find(port.port);
    if (at == full.ports.end()) continue;
    const auto id = at->second.id;
    at->second = port.latest;
    at->second.id = id;
  }
  return full;
}

}  // namespace linkhealth
