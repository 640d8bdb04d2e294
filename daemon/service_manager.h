// systemd's notifications for a service of Type=notify with a watchdog (sd_notify(3),
// sd_watchdog_enabled(3)).
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace linkhealth {

class ServiceManager {
 public:
  /// As the environment says: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID. Does nothing without
  /// them.
  static ServiceManager from_environment();

  /// "READY=1", "STATUS=10 ports", "WATCHDOG=1", "STOPPING=1". Never blocks; lost when no service
  /// manager listens.
  void tell(const std::string& state) const;
  /// How often "WATCHDOG=1" is due: half of the watchdog's timeout; nullopt without a watchdog.
  [[nodiscard]] std::optional<Milliseconds> feed_period() const { return feed_period_; }

 private:
  std::optional<Milliseconds> feed_period_;
};

}  // namespace linkhealth
