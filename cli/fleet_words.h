// Words that the table and the work list of `linkhealth fleet` share.
#pragma once

#include <array>
#include <string>

#include "cli/fleet.h"

namespace linkhealth::cli {

inline constexpr std::array kHealthWords = {"healthy", "at_risk", "degraded", "down", "unknown", "exempt"};

/// "1.2 Tb/s", "400 Gb/s"; "" for none.
std::string bandwidth_words(double bytes_per_s);
/// "leaf-12 Ethernet17/1"
std::string to_words(const FleetFault& fault);
/// "3 h"; "" where it is not known.
std::string since_words(const FleetFault& fault, WallTime now);
/// "24 nodes, 192 links: 173 healthy, …; 1.0 Tb/s lost"
std::string fleet_summary(const FleetView& view);
/// How many of the faults share a switch or a node, by its name.
std::map<std::string, std::size_t> shared_causes(const FleetView& view);

}  // namespace linkhealth::cli
