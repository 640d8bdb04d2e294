// The web configuration file of Prometheus's exporters (exporter-toolkit,
// docs/web-configuration.md): TLS, client certificates, passwords. The same file serves
// node_exporter. Its rare keys are refused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace linkhealth {

/// What a client has to present; Go's words (crypto/tls) in the file.
enum class ClientAuth : std::uint8_t {
  kNone,
  kRequest,
  kRequireAny,
  kVerifyIfGiven,
  kRequireAndVerify
};

struct WebTls {
  std::string cert_file, key_file,
      client_ca_file;                ///< absolute, or relative to the web configuration
  std::string cert, key, client_ca;  ///< PEM in the file itself; never both it and the file
  ClientAuth client_auth = ClientAuth::kNone;
  std::string min_version = "TLS12", max_version = "TLS13";
  std::vector<std::string> cipher_suites;  ///< by their IANA names; empty: the library's choice
  std::vector<std::string> curves;         ///< "CurveP256", …; empty: the library's choice
  bool prefer_server_cipher_suites = true;
  /// A client's certificate must have one of these as a subject alternative name (DNS, address,
  /// mail, URI); empty: any.
  std::vector<std::string> client_allowed_sans;
};

struct WebConfig {
  std::optional<WebTls> tls;                 ///< nullopt: plain text
  std::map<std::string, std::string> users;  ///< name and bcrypt hash; empty: no password is needed
  std::vector<std::string> notes;  ///< "FILE:LINE: …": what is taken and has no effect here
};

/// What a password may cost to check, as bcrypt's exponent: 14 takes a second of a processor.
inline constexpr int kMinBcryptCost = 4;
inline constexpr int kMaxBcryptCost = 14;

/// Reads the text of `file_name`. An empty text is no TLS and no passwords. Errors are "FILE:LINE:
/// what".
Result<WebConfig> load_web_config(std::string_view text, const std::string& file_name);
/// "$2y$10$…": a bcrypt hash as htpasswd -B writes it, its cost within bounds.
bool is_bcrypt_hash(std::string_view hash);

}  // namespace linkhealth
