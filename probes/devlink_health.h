// devlink health reporters: what a driver says of its own device and firmware.
//
// DEVLINK_CMD_HEALTH_REPORTER_GET as a dump over all devices (linux: net/devlink/health.c,
// devlink_nl_health_reporter_fill). Needs no lock of the network stack, only the device's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/host.h"
#include "probes/netlink_message.h"

namespace linkhealth {

struct HealthReporter {
  std::string pci;   ///< "0000:1b:00.0"; "" for a device of another bus
  std::string name;  ///< "fw", "fw_fatal", "tx", "rx", "vnic", … (mlx5); "fw" (bnxt); "mdd", "fw", "port", … (ice)
  std::optional<bool> in_error;  ///< DEVLINK_HEALTH_REPORTER_STATE_ERROR, which stands until recovery
  std::optional<std::uint64_t> errors, recoveries;
};

/// After how many readings in error, one after the other, a reporter of `driver` says that device or firmware have
/// failed; 0: it never says that, because it is of queues, recovers by itself or has other errors, too.
unsigned readings_until_fatal(std::string_view driver, std::string_view reporter);

Bytes build_health_reporters_dump(std::uint16_t family);
Result<HealthReporter> parse_health_reporter(ByteView message);
/// ENOENT: the kernel has no devlink. An answer that can't be parsed is left out.
Result<std::vector<HealthReporter>> read_health_reporters(Host& host);

}  // namespace linkhealth
