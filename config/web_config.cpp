#include "config/web_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "config/config.h"
#include "config/yaml_tree.h"

namespace linkhealth {

namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 5> kClientAuths = {
    "NoClientCert", "RequestClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert"};
constexpr std::array<std::string_view, 4> kVersions = {"TLS10", "TLS11", "TLS12", "TLS13"};
constexpr std::array<std::string_view, 4> kCurves = {"CurveP256", "CurveP384", "CurveP521",
                                                     "X25519"};
// Those that exporter-toolkit accepts: Go's tls.CipherSuites(), which excludes insecure ones.
constexpr auto kCiphers = std::to_array<std::string_view>(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
     "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
     "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
     "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
     "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
     "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
     "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_RSA_WITH_AES_256_CBC_SHA",
     "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_GCM_SHA384"});
constexpr std::size_t kMaxUsers = 64;
constexpr std::size_t kMaxNames = 256;  // in one list

using Words = std::span<const std::string_view>;

std::string listed(Words words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

struct TlsText {
  std::string_view name;
  std::string WebTls::*field;
};
/// PEM texts, and the files that replace them.
constexpr std::array<TlsText, 3> kPems = {
    {{"cert", &WebTls::cert}, {"key", &WebTls::key}, {"client_ca", &WebTls::client_ca}}};
constexpr std::array<TlsText, 3> kFiles = {{{"cert_file", &WebTls::cert_file},
                                            {"key_file", &WebTls::key_file},
                                            {"client_ca_file", &WebTls::client_ca_file}}};
constexpr std::array<TlsText, 2> kVersionKeys = {
    {{"min_version", &WebTls::min_version}, {"max_version", &WebTls::max_version}}};
constexpr auto kTlsKeys = std::to_array<std::string_view>(
    {"cert_file", "key_file", "client_ca_file", "cert", "key", "client_ca", "min_version",
     "max_version", "client_auth_type", "client_allowed_sans", "cipher_suites",
     "prefer_server_cipher_suites", "curve_preferences"});

class WebLoader : private YamlReader {
 public:
  explicit WebLoader(const std::string& file_name) : YamlReader(file_name), file_(file_name) {}

  Result<WebConfig> load(const YamlNode& root) {
    constexpr std::array<std::string_view, 4> kGood = {"tls_server_config", "http_server_config",
                                                       "basic_auth_users", "rate_limit"};
    WebConfig config;
    const auto read = each_key(
        {"the web configuration", root.line, root}, kGood,
        [&](const Member& member) -> Result<void> {
          if (member.key == "tls_server_config") return tls(member, config);
          if (member.key == "http_server_config") return http(member, config);
          if (member.key == "rate_limit")
            return wrong(member.line,
                         "rate_limit: not supported; limit clients in a proxy or firewall");
          return users(member, config);
        });
    if (!read) return read.error();
    return config;
  }

 private:
  Result<std::string> printable_text(const Member& member) const {
    auto value = text(member);
    if (value && printable(*value) != *value)
      return wrong(member.value.line, fmt::format("\"{}\" must be text", member.key));
    return value;
  }

  Result<void> path(const Member& member, std::string& place) const {
    auto value = printable_text(member);
    if (!value) return value.error();
    // Relative to the file that names it, as in exporter-toolkit.
    const auto folder = std::filesystem::path(file_).parent_path();
    place = value->empty() ? "" : (folder / *value).string();
    return {};
  }

  Result<std::size_t> word(const Member& member, Words words) const {
    const auto value = printable_text(member);
    if (!value) return value.error();
    const auto found = std::ranges::find(words, *value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    return wrong(member.value.line,
                 fmt::format("unknown {1} \"{0}\": use {2}", *value, member.key, listed(words)));
  }

  /// `words`: the allowed entries; empty: any text. `what`: describes one entry.
  Result<void> list(const Member& member, std::vector<std::string>& place, Words words = {},
                    std::string_view what = {}) const {
    if (member.value.kind == Kind::kNull) return {};
    if (member.value.kind != Kind::kList)
      return wrong(member.value.line, fmt::format("\"{}\" must be a list", member.key));
    for (const YamlNode& item : member.value.items) {
      if (item.kind != Kind::kScalar || printable(item.scalar) != item.scalar)
        return wrong(item.line, fmt::format("\"{}\" must be a list of names", member.key));
      if (!words.empty() && std::ranges::find(words, item.scalar) == words.end())
        return wrong(item.line, fmt::format("{0}: unknown {2} \"{1}\": use {3}", member.key,
                                            item.scalar, what, listed(words)));
      place.push_back(item.scalar);
    }
    if (place.size() <= kMaxNames) return {};
    return wrong(member.value.line,
                 fmt::format("\"{}\" has more than {} entries", member.key, kMaxNames));
  }

  /// The text of a certificate or key, which never becomes part of an error.
  Result<void> pem(const Member& member, std::string& place) const {
    auto value = text(member);
    if (!value) return value.error();
    place = *std::move(value);
    return {};
  }

  Result<void> sans(const Member& member, WebTls& tls) const {
    if (auto read = list(member, tls.client_allowed_sans); !read) return read;
    if (member.value.kind == Kind::kList && tls.client_allowed_sans.empty())
      return wrong(member.line, "client_allowed_sans is empty: no client could connect");
    return {};
  }

  Result<void> tls_key(const Member& member, WebTls& tls) const {
    const auto find = [&](const auto& table) -> std::string* {
      const auto row = std::ranges::find(table, member.key, &TlsText::name);
      return row == table.end() ? nullptr : &(tls.*row->field);
    };
    if (std::string* file = find(kFiles)) return path(member, *file);
    if (std::string* text = find(kPems)) return pem(member, *text);
    if (std::string* version = find(kVersionKeys)) {
      const auto index = word(member, kVersions);
      if (!index) return index.error();
      *version = kVersions.at(*index);
      return {};
    }
    if (member.key == "client_allowed_sans") return sans(member, tls);
    if (member.key == "client_auth_type") return client_auth(member, tls);
    if (member.key == "cipher_suites") return list(member, tls.cipher_suites, kCiphers, "cipher");
    if (member.key == "curve_preferences") return list(member, tls.curves, kCurves, "curve");
    const auto prefer = flag(member);
    if (!prefer) return prefer.error();
    tls.prefer_server_cipher_suites = *prefer;
    return {};
  }

  Result<void> client_auth(const Member& member, WebTls& tls) const {
    // An older name for the same, which exporter-toolkit also accepts.
    if (member.value.scalar == "RequireClientCert") {
      tls.client_auth = ClientAuth::kRequireAny;
      return {};
    }
    const auto index = word(member, kClientAuths);
    if (!index) return index.error();
    tls.client_auth = static_cast<ClientAuth>(*index);
    return {};
  }

  Result<void> tls(const Member& member, WebConfig& config) {
    WebTls tls;
    auto read = each_key(member, kTlsKeys, [&](const Member& key) { return tls_key(key, tls); });
    if (!read || member.value.kind == Kind::kNull) return read;
    if (auto one = text_or_file(member, tls); !one) return one;
    if (tls.min_version > tls.max_version)
      return wrong(member.line, "min_version is above max_version");
    if (auto fits = clients_fit(member, tls, config); !fits) return fits;
    config.tls = std::move(tls);
    return {};
  }

  /// Each PEM is given as text or as a file; the certificate and the key are required.
  Result<void> text_or_file(const Member& member, const WebTls& tls) const {
    for (std::size_t i = 0; i < kPems.size(); ++i) {
      const std::string_view name = kPems.at(i).name;
      const bool has_text = !(tls.*kPems.at(i).field).empty();
      const bool has_file = !(tls.*kFiles.at(i).field).empty();
      if (has_text && has_file)
        return wrong(member.line, fmt::format("{0} and {0}_file: one of both, not both", name));
      if (!has_text && !has_file && name != "client_ca")
        return wrong(member.line,
                     fmt::format("tls_server_config: missing {0}_file (or {0})", name));
    }
    return {};
  }

  /// Checks that the settings for client certificates fit together and that none is without effect.
  Result<void> clients_fit(const Member& member, const WebTls& tls, WebConfig& config) const {
    const std::string_view type = kClientAuths.at(static_cast<std::size_t>(tls.client_auth));
    const bool has_ca = !tls.client_ca.empty() || !tls.client_ca_file.empty();
    const bool verifies = tls.client_auth >= ClientAuth::kVerifyIfGiven;
    if (verifies && !has_ca)
      return wrong(member.line,
                   fmt::format("client_auth_type {} needs client_ca_file (or client_ca)", type));
    if (has_ca && tls.client_auth == ClientAuth::kNone)
      return wrong(member.line,
                   "client_ca_file is set and client_auth_type requests no certificate");
    if (has_ca && !verifies)
      config.notes.push_back(
          wrong(member.line,
                fmt::format(
                    "client_auth_type {} verifies no certificate: client_ca_file is only a hint",
                    type))
              .message);
    const bool required = tls.client_auth == ClientAuth::kRequireAny ||
                          tls.client_auth == ClientAuth::kRequireAndVerify;
    if (!tls.client_allowed_sans.empty() && !required)
      return wrong(member.line,
                   "client_allowed_sans needs client_auth_type RequireAndVerifyClientCert (or "
                   "RequireAnyClientCert): the others accept clients without a certificate");
    return {};
  }

  Result<void> http(const Member& member, WebConfig& config) {
    constexpr std::array<std::string_view, 2> kGood = {"http2", "headers"};
    return each_key(member, kGood, [&](const Member& key) -> Result<void> {
      if (key.key == "headers")
        return wrong(key.line, "headers: not supported; linkhealthd sets its own");
      const auto http2 = flag(key);
      if (!http2) return http2.error();
      if (*http2)
        config.notes.push_back(
            wrong(key.line, "http2: not supported; clients use HTTP/1.1").message);
      return {};
    });
  }

  Result<void> users(const Member& member, WebConfig& config) {
    auto read = each(member, [&](const Member& user) -> Result<void> {
      const auto hash = printable_text(user);
      if (!hash) return hash.error();
      if (user.key.empty() || user.key.find(':') != std::string::npos)
        return wrong(user.line, "a user name must not be empty or contain a colon");
      if (!is_bcrypt_hash(*hash))
        return wrong(user.line, fmt::format("the password of \"{}\" is not a bcrypt hash of cost "
                                            "{} to {} (create one with htpasswd -nBC 10 \"\")",
                                            printable(user.key), kMinBcryptCost, kMaxBcryptCost));
      config.users[user.key] = *hash;
      return {};
    });
    if (read && config.users.size() > kMaxUsers)
      return wrong(member.line, fmt::format("more than {} users", kMaxUsers));
    return read;
  }

  const std::string& file_;
};

}  // namespace

bool is_bcrypt_hash(std::string_view hash) {
  constexpr std::size_t kHashBytes =
      60;  // crypt(5): "$2y$", two digits, "$", 22 of salt and 31 of hash
  constexpr std::string_view kLetters =
      "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (hash.size() != kHashBytes || hash[6] != '$') return false;
  if (!hash.starts_with("$2a$") && !hash.starts_with("$2b$") && !hash.starts_with("$2y$"))
    return false;
  const auto cost = parse_u64(hash.substr(4, 2));
  if (!cost || *cost < kMinBcryptCost || *cost > kMaxBcryptCost) return false;
  return hash.substr(7).find_first_not_of(kLetters) == std::string_view::npos;
}

Result<WebConfig> load_web_config(std::string_view text, const std::string& file_name) {
  if (text.size() > kMaxConfigBytes)
    return error_at(file_name, 1, "too large for a web configuration");
  const auto root = parse_yaml(text, file_name);
  if (!root) return root.error();
  return WebLoader(file_name).load(*root);
}

}  // namespace linkhealth
