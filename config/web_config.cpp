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
using Member = YamlNode::Member;

constexpr std::array<std::string_view, 5> kClientAuths = {
    "NoClientCert", "RequestClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert"};
constexpr std::array<std::string_view, 4> kVersions = {"TLS10", "TLS11", "TLS12", "TLS13"};
constexpr std::array<std::string_view, 4> kCurves = {"CurveP256", "CurveP384", "CurveP521",
                                                     "X25519"};
// Those that exporter-toolkit takes: Go's tls.CipherSuites(), which leaves out what is broken.
constexpr std::array<std::string_view, 17> kCiphers = {
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384"};
constexpr std::size_t kMaxUsers = 64;
constexpr std::size_t kMaxNames = 256;  // of a list

template <std::size_t N>
std::string words_of(const std::array<std::string_view, N>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

class WebLoader {
 public:
  explicit WebLoader(const std::string& file_name) : file_(file_name) {}

  Result<WebConfig> load(const YamlNode& root) {
    WebConfig config;
    const auto set = each(
        root, "", {"tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"},
        [&](const Member& member) -> Result<void> {
          if (member.key == "tls_server_config") return tls(member, config);
          if (member.key == "http_server_config") return http(member, config);
          if (member.key == "rate_limit")
            return wrong(member.line,
                         "rate_limit: not supported; limit clients in a proxy or firewall");
          return users(member, config);
        });
    if (!set) return set.error();
    return config;
  }

 private:
  Error wrong(std::size_t line, std::string_view what) const { return error_at(file_, line, what); }

  /// `take` of each key of a map. `good`: the keys there are; empty: any.
  template <typename Take>
  Result<void> each(const YamlNode& node, std::string_view name,
                    const std::vector<std::string_view>& good, Take take) {
    if (node.kind == Kind::kNull) return {};
    if (node.kind != Kind::kMap)
      return wrong(node.line, fmt::format("\"{}\" must hold keys", name));
    for (const Member& member : node.members) {
      if (!good.empty() && std::ranges::find(good, member.key) == good.end()) {
        const auto near = closest(member.key, good);
        return wrong(member.line,
                     fmt::format("unknown key \"{}\"{}", printable(member.key),
                                 near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
      }
      if (auto taken = take(member); !taken) return taken;
    }
    return {};
  }

  Result<std::string> text(const Member& member) const {
    if (member.value.kind == Kind::kNull) return std::string();
    if (member.value.kind == Kind::kScalar && printable(member.value.scalar) == member.value.scalar)
      return member.value.scalar;
    return wrong(member.value.line, fmt::format("\"{}\" must be text", member.key));
  }

  Result<void> path(const Member& member, std::string& place) const {
    auto value = text(member);
    if (!value) return value.error();
    // Relative to the file that names it, as in exporter-toolkit.
    const auto folder = std::filesystem::path(file_).parent_path();
    place = value->empty() ? "" : (folder / *value).string();
    return {};
  }

  template <std::size_t N>
  Result<std::size_t> word(const Member& member,
                           const std::array<std::string_view, N>& words) const {
    const auto value = text(member);
    if (!value) return value.error();
    const auto found = std::ranges::find(words, *value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    return wrong(member.value.line,
                 fmt::format("\"{}\" is no {}: there are {}", *value, member.key, words_of(words)));
  }

  Result<void> list(const Member& member, std::vector<std::string>& place) const {
    if (member.value.kind == Kind::kNull) return {};
    if (member.value.kind != Kind::kList)
      return wrong(member.value.line, fmt::format("\"{}\" must be a list", member.key));
    for (const YamlNode& item : member.value.items) {
      if (item.kind != Kind::kScalar || printable(item.scalar) != item.scalar)
        return wrong(item.line, fmt::format("\"{}\" must be a list of names", member.key));
      place.push_back(item.scalar);
    }
    if (place.size() <= kMaxNames) return {};
    return wrong(member.value.line,
                 fmt::format("\"{}\" has more than {} entries", member.key, kMaxNames));
  }

  /// A list of which each entry is one of `words`; `what`: one of them, in words.
  template <std::size_t N>
  Result<void> list_of(const Member& member, std::string_view what,
                       const std::array<std::string_view, N>& words,
                       std::vector<std::string>& place) const {
    if (auto read = list(member, place); !read) return read;
    for (const std::string& entry : place)
      if (std::ranges::find(words, entry) == words.end())
        return wrong(member.value.line, fmt::format("{}: \"{}\" is no {}: there are {}", member.key,
                                                    entry, what, words_of(words)));
    return {};
  }

  /// The text of a certificate or key. What is in it never becomes part of an error.
  Result<void> pem(const Member& member, std::string& place) const {
    if (member.value.kind == Kind::kNull) return {};
    if (member.value.kind != Kind::kScalar || member.value.scalar.find('\0') != std::string::npos)
      return wrong(member.value.line, fmt::format("\"{}\" must be PEM text", member.key));
    place = member.value.scalar;
    return {};
  }

  Result<void> sans(const Member& member, WebTls& tls) const {
    if (auto read = list(member, tls.client_allowed_sans); !read) return read;
    if (member.value.kind == Kind::kList && tls.client_allowed_sans.empty())
      return wrong(member.line, "client_allowed_sans is empty: no client could connect");
    return {};
  }

  Result<void> flag(const Member& member, bool& place) const {
    const std::string& word = member.value.scalar;
    if (word != "true" && word != "false")
      return wrong(member.value.line, fmt::format("\"{}\" must be true or false", member.key));
    place = word == "true";
    return {};
  }

  Result<void> version(const Member& member, std::string& place) const {
    const auto index = word(member, kVersions);
    if (!index) return index.error();
    place = kVersions.at(*index);
    return {};
  }

  Result<void> tls_key(const Member& member, WebTls& tls) {
    const std::string& key = member.key;
    if (key == "cert_file") return path(member, tls.cert_file);
    if (key == "key_file") return path(member, tls.key_file);
    if (key == "client_ca_file") return path(member, tls.client_ca_file);
    if (key == "min_version") return version(member, tls.min_version);
    if (key == "max_version") return version(member, tls.max_version);
    if (key == "cert") return pem(member, tls.cert);
    if (key == "key") return pem(member, tls.key);
    if (key == "client_ca") return pem(member, tls.client_ca);
    if (key == "client_allowed_sans") return sans(member, tls);
    if (key == "cipher_suites")
      return list_of(member, "cipher that is taken", kCiphers, tls.cipher_suites);
    if (key == "prefer_server_cipher_suites") return flag(member, tls.prefer_server_cipher_suites);
    if (key == "client_auth_type") return client_auth(member, tls);
    return list_of(member, "curve", kCurves, tls.curves);
  }

  Result<void> client_auth(const Member& member, WebTls& tls) const {
    // An older name of the same, which exporter-toolkit takes, too.
    const bool older = member.value.scalar == "RequireClientCert";
    const auto index = older
                           ? Result<std::size_t>(static_cast<std::size_t>(ClientAuth::kRequireAny))
                           : word(member, kClientAuths);
    if (!index) return index.error();
    tls.client_auth = static_cast<ClientAuth>(*index);
    return {};
  }

  Result<void> tls(const Member& member, WebConfig& config) {
    WebTls tls;
    auto read = each(member.value, member.key,
                     {"cert_file", "key_file", "client_ca_file", "cert", "key", "client_ca",
                      "client_auth_type", "client_allowed_sans", "min_version", "max_version",
                      "cipher_suites", "prefer_server_cipher_suites", "curve_preferences"},
                     [&](const Member& key) { return tls_key(key, tls); });
    if (!read) return read;
    if (member.value.kind == Kind::kNull) return {};
    if (auto one = one_of_both(member, tls); !one) return one;
    if (tls.min_version > tls.max_version)
      return wrong(member.line, "min_version is above max_version");
    if (auto fits = clients_fit(member, tls, config); !fits) return fits;
    config.tls = std::move(tls);
    return {};
  }

  Result<void> one_of_both(const Member& member, const WebTls& tls) const {
    struct Pair {
      std::string_view name;
      const std::string &text, &file;
      bool needed;
    };
    for (const Pair& pair :
         {Pair{"cert", tls.cert, tls.cert_file, true}, Pair{"key", tls.key, tls.key_file, true},
          Pair{"client_ca", tls.client_ca, tls.client_ca_file, false}}) {
      if (!pair.text.empty() && !pair.file.empty())
        return wrong(member.line,
                     fmt::format("{0} and {0}_file: one of both, not both", pair.name));
      if (pair.needed && pair.text.empty() && pair.file.empty())
        return wrong(member.line,
                     fmt::format("tls_server_config: missing {0}_file (or {0})", pair.name));
    }
    return {};
  }

  /// The settings for client certificates fit together, and none of them would be without effect.
  Result<void> clients_fit(const Member& member, const WebTls& tls, WebConfig& config) const {
    const std::string_view type = kClientAuths.at(static_cast<std::size_t>(tls.client_auth));
    const bool has_ca = !tls.client_ca.empty() || !tls.client_ca_file.empty();
    const bool verifies = tls.client_auth >= ClientAuth::kVerifyIfGiven;
    if (verifies && !has_ca)
      return wrong(member.line,
                   fmt::format("client_auth_type {} needs client_ca_file (or client_ca)", type));
    if (has_ca && tls.client_auth == ClientAuth::kNone)
      return wrong(member.line,
                   "client_ca_file is set and client_auth_type asks for no certificate");
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
    return each(member.value, member.key, {"http2", "headers"},
                [&](const Member& key) -> Result<void> {
                  if (key.key == "headers")
                    return wrong(key.line, "headers: not supported; linkhealthd sets its own");
                  bool http2 = false;
                  if (auto read = flag(key, http2); !read) return read;
                  if (http2)
                    config.notes.push_back(
                        wrong(key.line, "http2: not supported; clients use HTTP/1.1").message);
                  return {};
                });
  }

  Result<void> users(const Member& member, WebConfig& config) {
    auto read = each(member.value, member.key, {}, [&](const Member& user) -> Result<void> {
      const auto hash = text(user);
      if (!hash) return hash.error();
      if (user.key.empty() || user.key.find(':') != std::string::npos)
        return wrong(user.line, "a user's name is not empty and has no colon");
      if (!is_bcrypt_hash(*hash))
        return wrong(
            user.line,
            fmt::format(
                "the password of \"{}\" is no bcrypt hash of cost {} to {}: htpasswd -nBC 10 \"\" "
                "makes one",
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
