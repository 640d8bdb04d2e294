// `linkhealth fleet`: what a Prometheus with our rules knows of all nodes: the worst links, counts
// by what links share, and a list of work in the order of one round. Decisions are pure; the
// queries are in fleet.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/prometheus.h"
#include "exporters/text_style.h"

namespace linkhealth::cli {

struct FleetOptions {
  PrometheusOptions prometheus;
  std::string by;  ///< "", "switch", "part", "rack", "rail", "vendor"
  bool work_list = false;
  bool json = false;
  std::uint64_t limit = 20;
};

/// A fault that wants work, with what is known of its link.
struct FleetFault {
  std::string instance, device, port, netdev, fault, end, severity, peer_system, peer_port;
  std::string pod, row, rack, u, rail, vendor, part_number, serial, connector;
  double confidence = 0;
  std::optional<WallTime> opened_at;
  double lost_bytes_per_s = 0;
  std::string
      shared;  ///< the switch or node that has too many bad links; "" for a fault of its own
  std::size_t rank = 0;  ///< 1 costs most
};

struct FleetGroup {
  std::string name;
  std::map<std::string, std::uint64_t> links;  ///< by health
  std::uint64_t faults = 0;
  [[nodiscard]] std::uint64_t count(const std::string& health) const;
  [[nodiscard]] std::uint64_t all() const;
  [[nodiscard]] std::uint64_t bad() const { return count("degraded") + count("down"); }
};

struct FleetView {
  std::uint64_t nodes = 0, silent_nodes = 0;
  FleetGroup links;  ///< of the whole fleet
  double lost_bytes_per_s = 0;
  std::vector<FleetFault> faults;  ///< the one that costs most first
  std::uint64_t faults_total = 0;  ///< also those that were left out
  std::vector<FleetGroup> groups;  ///< with --by, the worst first
  std::uint64_t groups_total = 0;
};

/// What costs most first: lost bandwidth, then severity, then how sure, then the oldest. Sets
/// `rank`.
void rank_by_cost(std::vector<FleetFault>& faults);
/// The order of one round: pod, row, rack, U, node, port; numbers as numbers. Only what is work at
/// a link: neither notices nor what a switch or node explains as a whole.
std::vector<FleetFault> in_walking_order(std::vector<FleetFault> faults);

std::string fleet_text(const FleetView& view, const FleetOptions& options, WallTime now,
                       const TextStyle& style);
/// Markdown, to be printed.
std::string work_list_text(const FleetView& view, const FleetOptions& options, WallTime now);
std::string fleet_json(const FleetView& view, const FleetOptions& options, WallTime now);

Result<FleetView> ask_fleet(const Prometheus& prometheus, const FleetOptions& options);
int run_fleet(const FleetOptions& options, const TextStyle& style, const Clock& clock);

}  // namespace linkhealth::cli
