// devlink health reporters: what a driver reports about its own device and firmware.
//
// DEVLINK_CMD_HEALTH_REPORTER_GET as a dump over all devices (linux: net/devlink/health.c,
// devlink_nl_health_reporter_fill). Takes only the device's own lock, not that of the network
// stack.
//
// A reporter's counts alone mean little. Reporters that describe a module or a port in words are
// also diagnosed (DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, which needs CAP_NET_ADMIN), but only after
// a new error: ice's "port" keeps its last description for ever, even after the repair.
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
  /// DEVLINK_HEALTH_REPORTER_STATE_ERROR, which lasts until recovery.
  std::optional<bool> in_error;
  std::optional<std::uint64_t> errors, recoveries;
  std::string description;               ///< of a new error, if it was diagnosed; otherwise ""
  std::optional<Error> diagnosis_error;  ///< why the diagnosis failed

  /// Its PCI address; "" for a device of another bus.
  [[nodiscard]] std::string_view pci() const {
    return bus == "pci" ? std::string_view(device) : "";
  }
};

/// How long a reporter of `driver` must be in error before the device or firmware counts as failed.
/// nullopt: never, because the reporter is for queues, recovers by itself or also reports other
/// errors.
std::optional<Milliseconds> failed_after(std::string_view driver, std::string_view reporter);

/// Reads all reporters each time, and remembers which errors are known.
class HealthReporters {
 public:
  /// ENOENT: the kernel has no devlink. Answers that cannot be parsed are skipped. The errors of
  /// the first reading have an unknown age and are not diagnosed.
  Result<std::vector<HealthReporter>> read(Host& host);

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> errors_;  ///< by device and reporter
};

}  // namespace linkhealth
