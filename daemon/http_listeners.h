// The listening sockets of the HTTP server, and how they are left alone while the process has no
// descriptor for a new connection: they stay ready then, and whoever looks at them again at once
// does nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

/// What a listening socket gave: a connection, nothing more now, or a refusal while somebody waits.
struct Accepted {
  OwnedFd socket;
  bool refused = false;  ///< no descriptor, no memory
};
/// The next connection; of one that ended before it was taken, the one after it.
Accepted accept_next(int listener);

class HttpListeners {
 public:
  enum class Kind : std::uint8_t { kTcp, kUnix };

  void add(OwnedFd socket, Kind kind) { sockets_.emplace_back(std::move(socket), kind); }
  /// Has `epoll` tell when somebody comes; false: it can't. Once, after the last add().
  bool watch(int epoll);
  /// nullopt: no listening socket of these.
  [[nodiscard]] std::optional<Kind> kind_of(int fd) const;

  /// Nobody is told of until resume() or, by rested(), until then.
  void rest(SteadyTime until);
  void resume();
  void rested(SteadyTime now) {
    if (rests_until_ && *rests_until_ <= now) resume();
  }
  [[nodiscard]] std::optional<SteadyTime> rests_until() const { return rests_until_; }

 private:
  bool set_events(int operation, std::uint32_t events) const;

  std::vector<std::pair<OwnedFd, Kind>> sockets_;
  int epoll_ = -1;
  std::optional<SteadyTime> rests_until_;
};

}  // namespace linkhealth
