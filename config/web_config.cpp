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

constexpr std::array<std::string_view, 5> kClientAuths = {"NoClientCert", "RequestClientCert", "RequireAnyClientCert",
                                                          "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"};
constexpr std::array<std::string_view, 4> kVersions = {"TLS10", "TLS11", "TLS12", "TLS13"};
constexpr std::array<std::string_view, 4> kCurves = {"CurveP256", "CurveP384", "CurveP521", "X25519"};
// Those that exporter-toolkit takes.
constexpr std::array<std::string_view, 5> kHeaders = {"Strict-Transport-Security", "X-Frame-Options",
                                                      "X-Content-Type-Options", "X-XSS-Protection",
                                                      "Content-Security-Policy"};
constexpr std::size_t kMaxUsers = 64;

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
    const auto set = each(root, "", {"tls_server_config", "http_server_config", "basic_auth_users"},
                          [&](const Member& member) -> Result<void> {
                            if (member.key == "tls_server_config") return tls(member, config);
                            if (member.key == "http_server_config") return http(member, config);
                            return users(member, config);
                          });
    if (!set) return set.error();
    return config;
  }

 private:
  Error wrong(std::size_t line, std::string_view what) const { return error_at(file_, line, what); }

  /// `take` of each key of a map. `good`: the keys there are; empty: any.
  template <typename Take>
  Result<void> each(const YamlNode& node, std::string_view name, const std::vector<std::string_view>& good, Take take) {
    if (node.kind == Kind::kNull) return {};
    if (node.kind != Kind::kMap) return wrong(node.line, fmt::format("\"{}\" must hold keys", name));
    for (const Member& member : node.members) {
      if (!good.empty() && std::ranges::find(good, member.key) == good.end()) {
        const auto near = closest(member.key, good);
        return wrong(member.line, fmt::format("unknown key \"{}\"{}", printable(member.key),
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
    // As exporter-toolkit does it: beside the file that names it.
    const auto folder = std::filesystem::path(file_).parent_path();
    place = value->empty() ? "" : (folder / *value).string();
    return {};
  }

  template <std::size_t N>
  Result<std::size_t> word(const Member& member, const std::array<std::string_view, N>& words) const {
    const auto value = text(member);
    if (!value) return value.error();
    const auto found = std::ranges::find(words, *value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    return wrong(member.value.line, fmt::format("\"{}\" is no {}: there are {}", *value, member.key, words_of(words)));
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
    if (key == "cipher_suites") return list(member, tls.cipher_suites);
    if (key == "prefer_server_cipher_suites") return flag(member, tls.prefer_server_cipher_suites);
    if (key == "client_auth_type") {
      const auto index = word(member, kClientAuths);
      if (!index) return index.error();
      tls.client_auth = static_cast<ClientAuth>(*index);
      return {};
    }
    if (auto read = list(member, tls.curves); !read) return read;
    for (const std::string& curve : tls.curves)
      if (std::ranges::find(kCurves, curve) == kCurves.end())
        return wrong(member.value.line, fmt::format("\"{}\" is no curve: there are {}", curve, words_of(kCurves)));
    return {};
  }

  Result<void> tls(const Member& member, WebConfig& config) {
    WebTls tls;
    auto read = each(member.value, member.key,
                     {"cert_file", "key_file", "client_ca_file", "client_auth_type", "min_version", "max_version",
                      "cipher_suites", "prefer_server_cipher_suites", "curve_preferences"},
                     [&](const Member& key) { return tls_key(key, tls); });
    if (!read) return read;
    if (member.value.kind == Kind::kNull) return {};
    if (tls.cert_file.empty()) return wrong(member.line, "tls_server_config: missing cert_file");
    if (tls.key_file.empty()) return wrong(member.line, "tls_server_config: missing key_file");
    if (tls.min_version > tls.max_version) return wrong(member.line, "min_version is above max_version");
    const bool verifies = tls.client_auth >= ClientAuth::kVerifyIfGiven;
    if (verifies && tls.client_ca_file.empty())
      return wrong(member.line, fmt::format("client_auth_type {} needs client_ca_file",
                                            kClientAuths.at(static_cast<std::size_t>(tls.client_auth))));
    if (!verifies && !tls.client_ca_file.empty())
      return wrong(member.line, "client_ca_file is set and client_auth_type verifies nobody");
    config.tls = std::move(tls);
    return {};
  }

  Result<void> http(const Member& member, WebConfig& config) {
    return each(member.value, member.key, {"http2", "headers"}, [&](const Member& key) -> Result<void> {
      bool http2 = false;  // taken and of no effect: HTTP/1.1 is what every scraper speaks too
      if (key.key == "http2") return flag(key, http2);
      return each(key.value, key.key, {kHeaders.begin(), kHeaders.end()}, [&](const Member& field) -> Result<void> {
        auto value = text(field);
        if (!value) return value.error();
        if (!value->empty()) config.headers.emplace_back(field.key, *std::move(value));
        return {};
      });
    });
  }

  Result<void> users(const Member& member, WebConfig& config) {
    auto read = each(member.value, member.key, {}, [&](const Member& user) -> Result<void> {
      const auto hash = text(user);
      if (!hash) return hash.error();
      if (user.key.empty() || user.key.find(':') != std::string::npos)
        return wrong(user.line, "a user's name is not empty and has no colon");
      if (!is_bcrypt_hash(*hash))
        return wrong(user.line,
                     fmt::format("the password of \"{}\" is no bcrypt hash of cost {} to {}: htpasswd -nBC 10 \"\" "
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
  constexpr std::size_t kHashBytes = 60;  // crypt(5): "$2y$", two digits, "$", 22 of salt and 31 of hash
  constexpr std::string_view kLetters = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (hash.size() != kHashBytes || hash[6] != '$') return false;
  if (!hash.starts_with("$2a$") && !hash.starts_with("$2b$") && !hash.starts_with("$2y$")) return false;
  const auto cost = parse_u64(hash.substr(4, 2));
  if (!cost || *cost < kMinBcryptCost || *cost > kMaxBcryptCost) return false;
  return hash.substr(7).find_first_not_of(kLetters) == std::string_view::npos;
}

Result<WebConfig> load_web_config(std::string_view text, const std::string& file_name) {
  if (text.size() > kMaxConfigBytes) return error_at(file_name, 1, "too large for a web configuration");
  const auto root = parse_yaml(text, file_name);
  if (!root) return root.error();
  return WebLoader(file_name).load(*root);
}

}  // namespace linkhealth
