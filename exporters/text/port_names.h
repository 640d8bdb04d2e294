// Ports by any of their names: mlx5_0/1, mlx5_0, the netdev, the PCI address, the GUID.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/report.h"

namespace linkhealth {

/// The port with this name. An error suggests a similar name, or lists the ports of a device.
/// The pointer lives as long as `report`.
Result<const PortReport*> find_port(const Report& report, std::string_view name);

}  // namespace linkhealth
