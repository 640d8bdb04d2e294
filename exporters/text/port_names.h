// Ports by the names that people give them: mlx5_0/1, mlx5_0, the netdev, the PCI address, the
// GUID. A typo gets a suggestion.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/report.h"

namespace linkhealth {

/// The port that `name` means. An error says what was probably meant, or which ports a device has.
/// The pointer lives as long as `report`.
Result<const PortReport*> find_port(const Report& report, std::string_view name);

}  // namespace linkhealth
