// Certificates and keys, of a file or of the configuration itself, into OpenSSL; and the names in a
// certificate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/openssl_functions.h"

namespace linkhealth {

/// Where a PEM text stands: in `file`, or it is `text`; `key` is how the configuration calls it
/// without "_file".
struct PemSource {
  std::string_view key;
  const std::string& file;
  const std::string& text;
};

/// The server's certificate, the chain that follows it in the same text, and its key.
Result<void> use_certificate(const OpensslFunctions& ssl, SSL_CTX* context,
                             const PemSource& certificate, const PemSource& key);
/// Whose signature under a client's certificate counts; told to clients, too.
Result<void> use_client_authorities(const OpensslFunctions& ssl, SSL_CTX* context,
                                    const PemSource& authorities);

/// True when a subject alternative name of `certificate` (DNS, mail, URI, IP address) is one of
/// `allowed`, to the byte; addresses by their value.
bool has_allowed_name(const OpensslFunctions& ssl, const X509* certificate,
                      const std::vector<std::string>& allowed);

}  // namespace linkhealth
