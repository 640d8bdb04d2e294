// `linkhealth fleet`: all nodes, from a Prometheus that evaluates our rules: the worst links,
// counts by what links share, and a work list in walking order. fleet.cpp queries, fleet_text.cpp
// prints.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/commands.h"
#include "cli/prometheus.h"

namespace linkhealth::cli {

struct FleetOptions {
  PrometheusOptions prometheus;
  std::string by;  ///< "", "switch", "part", "rack", "rail", "vendor"
  bool work_list = false;
  bool json = false;
  std::uint64_t limit = 20;
};

/// An open fault of a link. Its labels: those of the fault, and `serial` and `connector` of its
/// module.
struct FleetFault : PrometheusRow {
  double confidence = 0;
  std::optional<WallTime> opened_at;
  double lost_bytes_per_s = 0;
  std::string shared_cause;  ///< the switch or node with too many faulty links; "" if none
  std::size_t rank = 0;      ///< 1 is the worst
};

struct FleetGroup {
  std::string name;
  std::map<std::string, std::uint64_t, std::less<>> links;  ///< by health
  std::uint64_t faults = 0;
  [[nodiscard]] std::uint64_t count(std::string_view health) const;
  [[nodiscard]] std::uint64_t all() const;
  [[nodiscard]] std::uint64_t bad() const { return count("degraded") + count("down"); }
};

struct FleetView {
  std::uint64_t nodes = 0, silent_nodes = 0;
  FleetGroup links;  ///< of the whole fleet
  double lost_bytes_per_s = 0;
  std::vector<FleetFault> faults;  ///< worst first
  std::uint64_t faults_total = 0;  ///< including those above the limit
  std::vector<FleetGroup> groups;  ///< with --by, worst first
  std::uint64_t groups_total = 0;
};

/// Worst first: by lost bandwidth, severity, confidence and age. Sets `rank`.
void rank_faults(std::vector<FleetFault>& faults);
/// By pod, row, rack, U, node and port; numbers are compared as numbers. Without notices and faults
/// that have a shared cause: these are not repaired at a single link.
std::vector<FleetFault> in_walking_order(std::vector<FleetFault> faults);

std::string fleet_text(const FleetView& view, const FleetOptions& options, WallTime now,
                       const TextStyle& style);
/// Markdown, for printing.
std::string work_list_text(const FleetView& view, WallTime now);
std::string fleet_json(const FleetView& view, const FleetOptions& options, WallTime now);

int run_fleet(const Context& context, const FleetOptions& options);

}  // namespace linkhealth::cli
