// What systemd wants to know of a service of Type=notify with a watchdog (sd_notify(3),
// sd_watchdog_enabled(3)).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace linkhealth {

class ServiceManager {
 public:
  /// As the environment says: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID. Without them all is
  /// silent.
  static ServiceManager from_environment();
  ServiceManager(std::string socket, std::optional<Milliseconds> watchdog)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  /// "READY=1", "STATUS=10 ports", "WATCHDOG=1", "STOPPING=1". Lost when nobody listens.
  void tell(std::string_view what) const;
  /// How often "WATCHDOG=1" is due: half of what the manager waits; nullopt: it does not wait for
  /// any.
  [[nodiscard]] std::optional<Milliseconds> feed_period() const;

 private:
  std::string socket_;  ///< "": nobody asks
  std::optional<Milliseconds> watchdog_;
};

}  // namespace linkhealth
