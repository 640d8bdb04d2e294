// systemd's notifications for a service of Type=notify with a watchdog (sd_notify(3),
// sd_watchdog_enabled(3)).
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace linkhealth {

class ServiceManager {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; without them the methods do nothing.
  static ServiceManager from_environment();

  /// "READY=1", "STATUS=10 ports", "WATCHDOG=1", "STOPPING=1". Lost without a service manager.
  void notify(const std::string& state) const;
  /// How often "WATCHDOG=1" is due: half of the watchdog's timeout; nullopt without a watchdog.
  [[nodiscard]] std::optional<Milliseconds> watchdog_period() const { return watchdog_period_; }

 private:
  std::optional<Milliseconds> watchdog_period_;
};

}  // namespace linkhealth
