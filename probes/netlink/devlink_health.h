// devlink health reporters: what a driver says of its own device and firmware.
//
// DEVLINK_CMD_HEALTH_REPORTER_GET as a dump over all devices (linux: net/devlink/health.c,
// devlink_nl_health_reporter_fill). Needs no lock of the network stack, only the device's own.
//
// What a reporter counts says little; what it means is asked of those only whose words name a
// module or a port, with DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE (which wants CAP_NET_ADMIN), and only
// after a new error: ice's "port" keeps its last words for ever, also when what they complain of
// was mended long ago.
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
#include "probes/netlink/netlink_message.h"

namespace linkhealth {

struct HealthReporter {
  std::string bus;     ///< "pci", "auxiliary", …
  std::string device;  ///< "0000:1b:00.0" on pci
  std::string name;  ///< "fw", "fw_fatal", "tx", "rx", "vnic", … (mlx5); "fw" (bnxt); "mdd", "fw",
                     ///< "port", … (ice)
  std::optional<bool>
      in_error;  ///< DEVLINK_HEALTH_REPORTER_STATE_ERROR, which stands until recovery
  std::optional<std::uint64_t> errors, recoveries;
  std::string words;            ///< of a new error, where they were asked; "" else
  std::optional<Error> unsaid;  ///< why they could not be asked

  /// Its PCI address; "" for a device of another bus.
  [[nodiscard]] std::string_view pci() const {
    return bus == "pci" ? std::string_view(device) : "";
  }
};

/// After what time in error, reading by reading, a reporter of `driver` means that device or
/// firmware have failed; nullopt: it never does, because it is of queues, recovers by itself or has
/// other errors, too.
std::optional<Milliseconds> failed_after(std::string_view driver, std::string_view reporter);

Bytes build_health_reporters_dump(std::uint16_t family);
Result<HealthReporter> parse_health_reporter(ByteView message);

Bytes build_health_diagnosis(std::uint16_t family, const HealthReporter& reporter);
/// What one of the answer's messages says as "Description" (linux: devlink_fmsg_string_pair_put());
/// "" nothing.
Result<std::string> parse_health_diagnosis(ByteView message);

/// Reads all reporters again and again, and remembers which errors it knows.
class HealthReporters {
 public:
  /// ENOENT: the kernel has no devlink. An answer that can't be parsed is left out. Of the errors
  /// that a reporter has at the first reading nobody knows how old they are: they are not asked.
  Result<std::vector<HealthReporter>> read(Host& host);

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> errors_;  ///< by device and reporter
};

}  // namespace linkhealth
