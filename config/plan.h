// The cabling plan: where each port of each node is connected. One file for the whole cluster, as
// CSV (a hand-written table) or YAML (a list of maps with the same keys).
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
  /// Any of the port's names on the node: mlx5_0/1, its network interface, its PCI address.
  std::string port;
  ExpectedPort expected;
  std::string exempt;  ///< why nothing is expected of it
  SiteLabels site;     ///< of the node: row, rack, u, pod
};

/// Maximum size of a plan in bytes: 100 000 links.
inline constexpr std::size_t kMaxPlanBytes = std::size_t{16} << 20;

/// CSV with a header line (RFC 4180 quotes; lines that begin with # are skipped). Errors are
/// "FILE:LINE: what".
Result<std::vector<PlanRow>> parse_plan_csv(std::string_view text, std::string_view file_name);
/// A YAML list of maps.
Result<std::vector<PlanRow>> parse_plan_yaml(std::string_view text, std::string_view file_name);
/// The format follows from the name: .yaml and .yml are YAML, all others CSV.
Result<std::vector<PlanRow>> load_plan_file(const std::string& path);

/// Adds the plan's rows of `node` to the configuration. The configuration's own entries take
/// precedence, even under another name of the port (model/expected_ports.h). A row's node may be
/// the host name with or without its domain.
void apply_plan(Config& config, std::span<const PlanRow> rows, std::string_view node);

}  // namespace linkhealth
