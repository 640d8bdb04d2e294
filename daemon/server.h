// The HTTP server: the same API on TCP and on a Unix socket. On the socket the peer's credentials
// decide who may change something and have recordings; on TCP everybody only reads, but who is
// authenticated. It has a thread of its own or is lent one; nothing that a client does can hold up
// the daemon.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/recording_tap.h"
#include "daemon/report_store.h"
#include "storage/history_store.h"

namespace linkhealth {

class Operator;

struct ServerSettings {
  enum class Thread : std::uint8_t { kOwn, kLent };
  Thread thread = Thread::kOwn;
  ListenAddress listen{"", 0};  ///< no host: no TCP
  std::string socket_path;      ///< "" for no Unix socket
  unsigned socket_mode = 0666;  ///< who may connect to it
  std::string socket_group;     ///< that owns it; "": the daemon's
  std::string
      control_group;  ///< whose members may act, beside root and the daemon's user; "": none
  std::string web_config_file;  ///< TLS and passwords of the TCP side; "": none
  /// Where the server says what happened to it; from the thread that serves.
  std::function<void(bool good, const std::string& line)> say = [](bool, const std::string&) {};
  Milliseconds stale_after = std::chrono::minutes(1);
  HistoryStore* history = nullptr;  ///< for what is remembered of a port
  Operator* desk = nullptr;         ///< takes acknowledgements and maintenance
};

class Server {
 public:
  /// Binds and answers from now on. `reports`, `tap` and `clock` must outlive the server. An
  /// error says which address could not be had, and why; then nothing is left behind.
  static Result<std::unique_ptr<Server>> start(const ServerSettings& settings,
                                               const ReportStore& reports, RecordingTap& tap,
                                               const Clock& clock);
  virtual ~Server() = default;
  /// Readable when somebody wants something.
  [[nodiscard]] virtual int wake_fd() const = 0;
  /// Serves whoever wants something now; whether a request was answered. For any thread, and may
  /// outlive the server. REQUIRES: Thread::kLent.
  [[nodiscard]] virtual std::function<bool()> serving() const = 0;
  /// The TCP port that was bound; 0 without TCP.
  [[nodiscard]] virtual int tcp_port() const = 0;
  /// From any thread: events were published. Wakes the server only when somebody listens to them.
  virtual void on_events() = 0;
  /// From any thread: the web configuration is read anew on the thread that serves, which says what
  /// came of it.
  virtual void reread_web_config() = 0;
  /// "http" or "https": what the TCP side began with.
  [[nodiscard]] virtual std::string_view scheme() const = 0;
};

}  // namespace linkhealth
