// devlink health reporters: what a driver reports about its own device and firmware.
//
// DEVLINK_CMD_HEALTH_REPORTER_GET as a dump over all devices (linux: net/devlink/health.c,
// devlink_nl_health_reporter_fill). Needs no lock of the network stack, only the device's own.
//
// A reporter's counts alone mean little. The reporters that describe a module or a port in words
// are diagnosed too (DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, which needs CAP_NET_ADMIN), but only
// after a new error: ice's "port" keeps its last description for ever, also after the repair.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "probes/host.h"

namespace linkhealth {

struct HealthReporter {
  std::string bus;     ///< "pci", "auxiliary", …
  std::string device;  ///< "0000:1b:00.0" on pci
  /// "fw", "fw_fatal", "tx", "rx", "vnic", … (mlx5); "fw" (bnxt); "mdd", "fw", "port", … (ice)
  std::string name;
  /// DEVLINK_HEALTH_REPORTER_STATE_ERROR, which stands until recovery.
  std::optional<bool> in_error;
  std::optional<std::uint64_t> errors, recoveries;
  std::string description;               ///< of a new error, where it was diagnosed; "" otherwise
  std::optional<Error> diagnosis_error;  ///< why the diagnosis failed

  /// Its PCI address; "" for a device of another bus.
  [[nodiscard]] std::string_view pci() const {
    return bus == "pci" ? std::string_view(device) : "";
  }
};

/// How long a reporter of `driver` must be in error until device or firmware count as failed;
/// nullopt: never, because the reporter is of queues, recovers by itself or has other errors, too.
std::optional<Milliseconds> failed_after(std::string_view driver, std::string_view reporter);

/// Reads all reporters each time, and remembers which errors it knows.
class HealthReporters {
 public:
  /// ENOENT: the kernel has no devlink. An answer that can't be parsed is left out. The errors of
  /// the first reading have an unknown age: they are not diagnosed.
  Result<std::vector<HealthReporter>> read(Host& host);

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> errors_;  ///< by device and reporter
};

}  // namespace linkhealth
