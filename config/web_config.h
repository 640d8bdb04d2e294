// The web configuration file of Prometheus's exporters (exporter-toolkit,
// docs/web-configuration.md): TLS, client certificates, passwords. node_exporter can use the same
// file. Rarely used keys are rejected.
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

/// What a client has to present; the file uses Go's names (crypto/tls).
enum class ClientAuth : std::uint8_t {
  kNone,
  kRequest,
  kRequireAny,
  kVerifyIfGiven,
  kRequireAndVerify
};

struct WebTls {
  std::string cert_file, key_file,
      client_ca_file;  ///< absolute, or relative to the web configuration
  /// PEM in the configuration itself; excludes the file of the same kind.
  std::string cert, key, client_ca;
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
  std::map<std::string, std::string> users;  ///< name and bcrypt hash; empty: no password required
  std::vector<std::string> notes;  ///< "FILE:LINE: …": accepted settings without effect here
};

/// Limits on the cost of checking a password, as bcrypt's exponent: 14 takes one second of CPU
/// time.
inline constexpr int kMinBcryptCost = 4;
inline constexpr int kMaxBcryptCost = 14;

/// Reads a configuration text; `file_name` is for errors. An empty text means no TLS and no
/// passwords. Errors are "FILE:LINE: what".
Result<WebConfig> load_web_config(std::string_view text, const std::string& file_name);
/// "$2y$10$…": a bcrypt hash as written by htpasswd -B, with its cost within bounds.
bool is_bcrypt_hash(std::string_view hash);

}  // namespace linkhealth
