// TLS settings of the web configuration as an OpenSSL context.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "config/web_config.h"

namespace linkhealth {

/// An error names the file or the setting, and the reason.
Result<std::shared_ptr<SSL_CTX>> make_tls_context(const WebTls& settings);

/// The common name in the client's certificate if it was verified when the client connected; else
/// "".
std::string verified_client_name(const SSL* session);

}  // namespace linkhealth
