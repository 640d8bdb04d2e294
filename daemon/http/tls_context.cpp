#include "daemon/http/tls_context.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "config/config.h"
#include "config/read_file.h"

namespace linkhealth {

namespace {

template <typename T, typename Free>
std::unique_ptr<T, Free> owned(T* object, Free free_object) {
  return {object, free_object};
}

/// OpenSSL's reason for the last failure: "no start line", "key values mismatch".
std::string openssl_reason() {
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "no reason given";
}

/// A PEM text: in `file`, or as `text` in the configuration itself. `key` is the setting's name
/// without "_file".
struct PemSource {
  std::string_view key;
  const std::string& file;
  const std::string& text;

  [[nodiscard]] std::string name() const {
    return file.empty() ? std::string(key) : fmt::format("{}_file {}", key, file);
  }
  [[nodiscard]] Result<std::string> read() const {
    if (file.empty()) return text;
    auto read = read_small_file(file, kMaxConfigBytes);
    if (!read) return Error{fmt::format("{}_file {}", key, read.error().message)};
    return read;
  }
  [[nodiscard]] Error refused() const { return Error{name() + ": " + openssl_reason()}; }
};

/// Without it, OpenSSL would prompt for the passphrase on the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return 0; }

auto open_pem(const std::string& text) {
  return owned(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free_all);
}

auto next_certificate(BIO* pem) {
  return owned(PEM_read_bio_X509(pem, nullptr, no_passphrase, nullptr), X509_free);
}

/// After the last certificate OpenSSL reports "no start line": that is the end, not an error.
bool is_at_end() {
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

/// The server's certificate and the chain that follows it in the same text.
Result<void> use_chain(SSL_CTX* context, const PemSource& source) {
  const auto text = source.read();
  if (!text) return text.error();
  const auto pem = open_pem(*text);
  const auto own = next_certificate(pem.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return source.refused();
  while (const auto next = next_certificate(pem.get()))
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return source.refused();
  if (!is_at_end()) return Error{source.name() + ": damaged data after the first certificate"};
  return {};
}

Result<void> use_key(SSL_CTX* context, const PemSource& source) {
  const auto text = source.read();
  if (!text) return text.error();
  const auto pem = open_pem(*text);
  const auto key =
      owned(PEM_read_bio_PrivateKey(pem.get(), nullptr, no_passphrase, nullptr), EVP_PKEY_free);
  if (key == nullptr || SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    return source.refused();
  return {};
}

/// Authorities that sign clients' certificates; their names are sent to clients.
Result<void> use_client_authorities(SSL_CTX* context, const PemSource& source) {
  const auto text = source.read();
  if (!text) return text.error();
  const auto pem = open_pem(*text);
  int count = 0;
  while (const auto next = next_certificate(pem.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), next.get()) != 1 ||
        SSL_CTX_add_client_CA(context, next.get()) != 1)
      return source.refused();
    ++count;
  }
  if (count == 0) return source.refused();
  if (!is_at_end()) return Error{source.name() + ": damaged data after a valid certificate"};
  return {};
}

int tls_version(std::string_view word) {
  return word == "TLS10"   ? TLS1_VERSION
         : word == "TLS11" ? TLS1_1_VERSION
         : word == "TLS12" ? TLS1_2_VERSION
                           : TLS1_3_VERSION;
}

void set_versions(SSL_CTX* context, const WebTls& settings) {
  SSL_CTX_set_min_proto_version(context, tls_version(settings.min_version));
  SSL_CTX_set_max_proto_version(context, tls_version(settings.max_version));
  std::uint64_t options = SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION;
  if (settings.prefer_server_cipher_suites) options |= SSL_OP_CIPHER_SERVER_PREFERENCE;
  SSL_CTX_set_options(context, options);
  constexpr std::string_view kId = "linkhealth";  // OpenSSL refuses to resume sessions without one
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kId.data()),
                                 kId.size());
}

/// OpenSSL has one list for TLS 1.3 and another for earlier versions.
Result<void> set_ciphers(SSL_CTX* context, const WebTls& settings) {
  std::string before_tls13;
  std::string tls13;
  for (const std::string& suite : settings.cipher_suites) {
    const std::string name = OPENSSL_cipher_name(suite.c_str());
    if (name == "(NONE)")
      return Error{fmt::format("cipher_suites: OpenSSL has no \"{}\"", printable(suite))};
    std::string& list = name.starts_with("TLS_") ? tls13 : before_tls13;
    list += (list.empty() ? "" : ":") + name;
  }
  if ((!before_tls13.empty() && SSL_CTX_set_cipher_list(context, before_tls13.c_str()) != 1) ||
      (!tls13.empty() && SSL_CTX_set_ciphersuites(context, tls13.c_str()) != 1))
    return Error{"cipher_suites: " + openssl_reason()};
  return {};
}

/// Go's names equal OpenSSL's except for "CurveP256".
Result<void> set_curves(SSL_CTX* context, const WebTls& settings) {
  std::string list;
  for (const std::string& curve : settings.curves)
    list.append(list.empty() ? "" : ":")
        .append(curve.starts_with("CurveP") ? "P-" + curve.substr(6) : curve);
  if (!list.empty() && SSL_CTX_set1_groups_list(context, list.c_str()) != 1)
    return Error{"curve_preferences: " + openssl_reason()};
  return {};
}

bool is_address(std::string_view bytes, const std::string& text) {
  std::array<char, sizeof(in6_addr)> address{};
  const int family = text.find(':') != std::string::npos ? AF_INET6 : AF_INET;
  if (inet_pton(family, text.c_str(), address.data()) != 1) return false;
  return bytes ==
         std::string_view(address.data(), family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr));
}

bool is_name(const GENERAL_NAME* name, const std::string& allowed) {
  if (name->type != GEN_DNS && name->type != GEN_EMAIL && name->type != GEN_URI &&
      name->type != GEN_IPADD)
    return false;
  const ASN1_STRING* const value = name->type == GEN_IPADD ? name->d.iPAddress : name->d.ia5;
  const std::string_view bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                               static_cast<std::size_t>(ASN1_STRING_length(value)));
  return name->type == GEN_IPADD ? is_address(bytes, allowed) : bytes == allowed;
}

/// Whether a subject alternative name (DNS, mail, URI, IP address) is one of `allowed`, byte for
/// byte; addresses by their value.
bool has_allowed_name(const X509* certificate, const std::vector<std::string>& allowed) {
  const auto names = owned(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
                               certificate, NID_subject_alt_name, nullptr, nullptr)),
                           GENERAL_NAMES_free);
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (std::ranges::any_of(allowed, [&](const auto& one) { return is_name(name, one); }))
      return true;
  }
  return false;
}

/// Index under which a context stores its WebTls. Asio uses the application data itself.
int settings_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

bool verifies_clients(const WebTls& settings) {
  return settings.client_auth >= ClientAuth::kVerifyIfGiven;
}

/// 1: the client's certificate is accepted. `data`: the WebTls.
int check_client(X509_STORE_CTX* store, void* data) {
  const auto& settings = *static_cast<const WebTls*>(data);
  if (verifies_clients(settings) && X509_verify_cert(store) != 1) return 0;
  if (settings.client_allowed_sans.empty() ||
      has_allowed_name(X509_STORE_CTX_get0_cert(store), settings.client_allowed_sans))
    return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

/// `settings` must outlive the context.
Result<void> set_clients(SSL_CTX* context, WebTls& settings) {
  if (settings.client_auth == ClientAuth::kNone) return {};
  const bool required = settings.client_auth == ClientAuth::kRequireAny ||
                        settings.client_auth == ClientAuth::kRequireAndVerify;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
  SSL_CTX_set_cert_verify_callback(context, check_client, &settings);
  if (settings.client_ca_file.empty() && settings.client_ca.empty()) return {};
  return use_client_authorities(context,
                                {"client_ca", settings.client_ca_file, settings.client_ca});
}

Result<void> configure(SSL_CTX* context, WebTls& settings) {
  ERR_clear_error();
  set_versions(context, settings);
  if (auto set = use_chain(context, {"cert", settings.cert_file, settings.cert}); !set) return set;
  if (auto set = use_key(context, {"key", settings.key_file, settings.key}); !set) return set;
  if (auto set = set_ciphers(context, settings); !set) return set;
  if (auto set = set_curves(context, settings); !set) return set;
  return set_clients(context, settings);
}

}  // namespace

Result<std::shared_ptr<SSL_CTX>> make_tls_context(const WebTls& settings) {
  const auto kept = std::make_shared<WebTls>(settings);  // for check_client()
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()),
                                   [kept](SSL_CTX* made) { SSL_CTX_free(made); });
  if (context == nullptr || SSL_CTX_set_ex_data(context.get(), settings_index(), kept.get()) != 1)
    return Error{"no memory for TLS"};
  if (auto configured = configure(context.get(), *kept); !configured) return configured.error();
  return context;
}

std::string verified_client_name(const SSL* session) {
  const auto* const settings =
      static_cast<const WebTls*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), settings_index()));
  if (!verifies_clients(*settings) || SSL_get_verify_result(session) != X509_V_OK) return "";
  const auto certificate = owned(SSL_get1_peer_certificate(session), X509_free);
  if (certificate == nullptr) return "";
  std::array<char, 256> name{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()),
                                             NID_commonName, name.data(), name.size());
  return size > 0 ? printable(name.data()) : "a certificate without a name";
}

}  // namespace linkhealth
