#include "daemon/service_manager.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>

namespace linkhealth {

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  std::uint64_t timeout_us = 0;
  if (sd_watchdog_enabled(0, &timeout_us) > 0)
    manager.watchdog_period_ = std::max(
        std::chrono::duration_cast<Milliseconds>(Microseconds(timeout_us / 2)), Milliseconds(1));
  return manager;
}

void ServiceManager::notify(const std::string& state) const { sd_notify(0, state.c_str()); }

}  // namespace linkhealth
