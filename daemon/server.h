// The HTTP server: the same API on TCP (read only) and on a Unix socket (mode 0660, which also gives recordings). It
// has threads of its own, few and bounded; nothing that a client does can hold up the daemon.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/publisher.h"
#include "daemon/recording_tap.h"
#include "model/catalogue.h"
#include "storage/memory.h"

namespace linkhealth {

struct ServerSettings {
  ListenAddress listen{"", 0};  ///< no host: no TCP
  std::string socket_path;      ///< "" for no Unix socket
  Milliseconds stale_after = std::chrono::minutes(1);
  const Catalogue* catalogue = nullptr;  ///< for /api/v1/rules; must outlive the server, as the next
  Memory* memory = nullptr;              ///< for what is remembered of a port
};

class Server {
 public:
  /// Binds and answers from now on. `publisher`, `tap` and `clock` must outlive the server. An error says which address
  /// could not be had, and why; then nothing is left behind.
  static Result<std::unique_ptr<Server>> start(const ServerSettings& settings, const Publisher& publisher,
                                               RecordingTap& tap, const Clock& clock);
  virtual ~Server() = default;
  /// The TCP port that was bound; 0 without TCP.
  [[nodiscard]] virtual int tcp_port() const = 0;
};

}  // namespace linkhealth
