#include "daemon/service_manager.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/datagram.h"
#include "base/text.h"

namespace linkhealth {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  const auto watchdog_us = parse_u64(variable("WATCHDOG_USEC"));
  const auto of_process = parse_u64(variable("WATCHDOG_PID"));
  const bool mine = !of_process || *of_process == static_cast<std::uint64_t>(getpid());
  std::optional<Milliseconds> watchdog;
  if (watchdog_us && *watchdog_us > 0 && mine)
    watchdog = Milliseconds(
        static_cast<Milliseconds::rep>(std::min<std::uint64_t>(*watchdog_us / 1000, 86'400'000)));
  return {variable("NOTIFY_SOCKET"), watchdog};
}

void ServiceManager::tell(std::string_view what) const {
  if (!socket_.empty()) (void)send_datagram(socket_, what);
}

std::optional<Milliseconds> ServiceManager::feed_period() const {
  if (socket_.empty() || !watchdog_) return std::nullopt;
  return std::max(*watchdog_ / 2, Milliseconds(1));
}

}  // namespace linkhealth
