// What stands before the API on TCP: encryption, passwords, certificates. The server knows only
// this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api.h"

namespace linkhealth {

/// One encrypted connection, as bytes in and bytes out; it has no socket.
class TlsSession {
 public:
  virtual ~TlsSession() = default;
  enum class State : std::uint8_t { kGood, kEnded, kBroken };
  /// Takes what came from the network; what it says is appended to `plain`. There may be something
  /// to send afterwards, even when it is broken (the reason, as an alert).
  virtual State receive(std::string_view from_network, std::string& plain) = 0;
  /// Takes all of `plain` for sending. False when the session is broken.
  virtual bool send(std::string_view plain) = 0;
  /// What must go to the network; the caller takes bytes off its front.
  virtual std::string& to_network() = 0;
  /// The name in the client's certificate, where one was asked for and verified; else "".
  [[nodiscard]] virtual std::string client_name() const = 0;
};

/// Used by the server's thread only.
class HttpGate {
 public:
  virtual ~HttpGate() = default;

  /// For a new connection: nullptr when it is in plain text. False in `good`: TLS is wanted and
  /// can't be had.
  virtual std::unique_ptr<TlsSession> accept(bool& good) = 0;

  enum class Admission : std::uint8_t {
    kAdmitted,
    kRefused,  ///< wrong, or no password
    kWait,  ///< it is being looked at on another thread; the server is woken, and asks again with
            ///< the same ticket
    kBusy,  ///< too many are being looked at
    kTooMany,  ///< more than the rate that the configuration allows
  };
  /// `ticket`: one for each connection, never used twice. Fills in request.caller.
  virtual Admission admit(ApiRequest& request, const TlsSession* session, std::uint64_t ticket) = 0;
  /// The connection is gone.
  virtual void forget(std::uint64_t ticket) = 0;
  /// Somebody woke the server.
  virtual void on_wake() {}
  /// Fields for every answer.
  [[nodiscard]] virtual const std::vector<std::pair<std::string, std::string>>& headers() const = 0;
};

}  // namespace linkhealth
