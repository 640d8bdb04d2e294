// The cabling plan: which port of which node ends where. One file for the whole cluster, as CSV (a
// table that people keep) or YAML (a list of maps with the same keys).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "model/snapshot.h"

namespace linkhealth {

struct PlanRow {
  std::string node;  ///< "": every node (a plan of one node)
  std::string port;  ///< any name that the node gives the port: mlx5_0/1, its network interface,
                     ///< its PCI address
  ExpectedPort expected;
  std::string exempt;  ///< why nothing is expected of it
  SiteLabels site;     ///< of the node: row, rack, u, pod
};

/// Bytes of a plan, at most: 100 000 links.
inline constexpr std::size_t kMaxPlanBytes = std::size_t{16} << 20;

/// CSV with a line of column names (RFC 4180 quotes; lines that begin with # are left out). Errors
/// are "FILE:LINE: what".
Result<std::vector<PlanRow>> parse_plan_csv(std::string_view text, std::string_view file_name);
/// A YAML list of maps.
Result<std::vector<PlanRow>> parse_plan_yaml(std::string_view text, std::string_view file_name);
/// By its name: .yaml and .yml are YAML, all else is CSV.
Result<std::vector<PlanRow>> load_plan_file(const std::string& path);

/// Adds the plan's rows of `node` to the configuration, whose own entries win, also under another
/// name of the port (model/expected_ports.h). A row's node may be the host's name with or without
/// its domain.
void apply_plan(Config& config, std::span<const PlanRow> rows, std::string_view node);

}  // namespace linkhealth
