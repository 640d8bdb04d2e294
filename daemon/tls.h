// TLS by OpenSSL, in memory: bytes in, bytes out, no socket. The library is loaded by the first
// context and not before (docs/adr/0008-other-systems.md).
#pragma once

#include <memory>

#include "base/result.h"
#include "config/web_config.h"
#include "daemon/http_gate.h"

namespace linkhealth {

class TlsContext {
 public:
  /// An error says which file or setting is wrong, and why.
  static Result<std::shared_ptr<const TlsContext>> make(const WebTls& settings);
  virtual ~TlsContext() = default;
  /// nullptr when there is no memory for it.
  [[nodiscard]] virtual std::unique_ptr<TlsSession> accept() const = 0;
};

}  // namespace linkhealth
