#include "daemon/tls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "daemon/openssl_functions.h"
#include "daemon/tls_pem.h"

namespace linkhealth {

namespace {

struct VersionWord {
  std::string_view word;
  int version;
};
constexpr std::array<VersionWord, 4> kVersions = {{{"TLS10", TLS1_VERSION},
                                                   {"TLS11", TLS1_1_VERSION},
                                                   {"TLS12", TLS1_2_VERSION},
                                                   {"TLS13", TLS1_3_VERSION}}};
struct CurveWord {
  std::string_view word, name;
};
constexpr std::array<CurveWord, 4> kCurves = {
    {{"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}, {"X25519", "X25519"}}};

class OpensslSession : public TlsSession {
 public:
  OpensslSession(std::shared_ptr<const TlsContext> context, const OpensslFunctions& ssl,
                 SSL* session, BIO* in, BIO* out, bool verified)
      : context_(std::move(context)),
        ssl_(ssl),
        session_(session),
        in_(in),
        out_(out),
        verified_(verified) {
    ssl_.SSL_set_bio(session_, in_, out_);  // they are the session's now
    ssl_.SSL_set_accept_state(session_);
  }
  OpensslSession(const OpensslSession&) = delete;
  OpensslSession& operator=(const OpensslSession&) = delete;
  ~OpensslSession() override { ssl_.SSL_free(session_); }

  State receive(std::string_view from_network, std::string& plain) override {
    ssl_.ERR_clear_error();
    if (ssl_.BIO_write(in_, from_network.data(), static_cast<int>(from_network.size())) !=
        static_cast<int>(from_network.size()))
      return State::kBroken;
    std::array<char, 16384> buffer;  // NOLINT(*-member-init): filled by SSL_read
    for (;;) {
      const int got = ssl_.SSL_read(session_, buffer.data(), static_cast<int>(buffer.size()));
      if (got <= 0) {
        const int error = ssl_.SSL_get_error(session_, got);
        take_output();
        if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return State::kGood;
        return error == SSL_ERROR_ZERO_RETURN ? State::kEnded : State::kBroken;
      }
      plain.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  bool send(std::string_view plain) override {
    ssl_.ERR_clear_error();
    const int sent = ssl_.SSL_write(session_, plain.data(), static_cast<int>(plain.size()));
    take_output();
    return sent == static_cast<int>(plain.size());  // memory takes all of it
  }

  std::string& to_network() override { return network_; }

  [[nodiscard]] std::string client_name() const override {
    if (!verified_ || ssl_.SSL_get_verify_result(session_) != X509_V_OK) return "";
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        ssl_.SSL_get1_peer_certificate(session_), ssl_.X509_free);
    if (certificate == nullptr) return "";
    std::array<char, 256> name{};
    const int size =
        ssl_.X509_NAME_get_text_by_NID(ssl_.X509_get_subject_name(certificate.get()),
                                       NID_commonName, name.data(), static_cast<int>(name.size()));
    return size > 0 ? printable(name.data()) : "a certificate without a name";
  }

 private:
  void take_output() {
    std::array<char, 16384> buffer;  // NOLINT(*-member-init): filled by BIO_read
    for (int got = 0;
         (got = ssl_.BIO_read(out_, buffer.data(), static_cast<int>(buffer.size()))) > 0;)
      network_.append(buffer.data(), static_cast<std::size_t>(got));
  }

  std::shared_ptr<const TlsContext> context_;  // the functions and settings of its own time
  const OpensslFunctions& ssl_;
  SSL* session_;
  BIO* in_;
  BIO* out_;
  bool verified_;
  std::string network_;
};

class OpensslContext : public TlsContext, public std::enable_shared_from_this<OpensslContext> {
 public:
  explicit OpensslContext(const OpensslFunctions& functions)
      : ssl_(functions), context_(ssl_.SSL_CTX_new(ssl_.TLS_server_method()), ssl_.SSL_CTX_free) {}

  Result<void> configure(const WebTls& settings) {
    if (context_ == nullptr) return Error{"no memory for TLS"};
    ssl_.ERR_clear_error();
    set_versions(settings);
    if (auto set =
            use_certificate(ssl_, context_.get(), {"cert", settings.cert_file, settings.cert},
                            {"key", settings.key_file, settings.key});
        !set)
      return set;
    if (auto set = set_ciphers(settings); !set) return set;
    if (auto set = set_curves(settings); !set) return set;
    return set_clients(settings);
  }

  [[nodiscard]] std::unique_ptr<TlsSession> accept() const override {
    SSL* const session = ssl_.SSL_new(context_.get());
    BIO* const in = ssl_.BIO_new(ssl_.BIO_s_mem());
    BIO* const out = ssl_.BIO_new(ssl_.BIO_s_mem());
    if (session == nullptr || in == nullptr || out == nullptr) return nullptr;
    return std::make_unique<OpensslSession>(shared_from_this(), ssl_, session, in, out, verifies_);
  }

 private:
  void set_versions(const WebTls& settings) {
    const auto version = [](std::string_view word) {
      return std::ranges::find(kVersions, word, &VersionWord::word)->version;
    };
    ssl_.SSL_CTX_ctrl(context_.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, version(settings.min_version),
                      nullptr);
    ssl_.SSL_CTX_ctrl(context_.get(), SSL_CTRL_SET_MAX_PROTO_VERSION, version(settings.max_version),
                      nullptr);
    std::uint64_t options = SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION;
    if (settings.prefer_server_cipher_suites) options |= SSL_OP_CIPHER_SERVER_PREFERENCE;
    ssl_.SSL_CTX_set_options(context_.get(), options);
    constexpr std::string_view kOurs = "linkhealth";
    ssl_.SSL_CTX_set_session_id_context(
        context_.get(), reinterpret_cast<const unsigned char*>(kOurs.data()), kOurs.size());
  }

  Result<void> set_ciphers(const WebTls& settings) {
    std::string old;
    std::string tls13;
    for (const std::string& suite : settings.cipher_suites) {
      const std::string name = ssl_.OPENSSL_cipher_name(suite.c_str());
      if (name == "(NONE)")
        return Error{fmt::format("cipher_suites: there is no \"{}\"", printable(suite))};
      std::string& list = name.starts_with("TLS_") ? tls13 : old;
      list += (list.empty() ? "" : ":") + name;
    }
    if (!old.empty() && ssl_.SSL_CTX_set_cipher_list(context_.get(), old.c_str()) != 1)
      return Error{fmt::format("cipher_suites: {}", ssl_.why())};
    if (!tls13.empty() && ssl_.SSL_CTX_set_ciphersuites(context_.get(), tls13.c_str()) != 1)
      return Error{fmt::format("cipher_suites: {}", ssl_.why())};
    return {};
  }

  Result<void> set_curves(const WebTls& settings) {
    std::string list;
    for (const std::string& curve : settings.curves)
      list.append(list.empty() ? "" : ":")
          .append(std::ranges::find(kCurves, curve, &CurveWord::word)->name);
    if (!list.empty() &&
        ssl_.SSL_CTX_ctrl(context_.get(), SSL_CTRL_SET_GROUPS_LIST, 0, list.data()) != 1)
      return Error{fmt::format("curve_preferences: {}", ssl_.why())};
    return {};
  }

  Result<void> set_clients(const WebTls& settings) {
    verifies_ = settings.client_auth >= ClientAuth::kVerifyIfGiven;
    if (settings.client_auth == ClientAuth::kNone) return {};
    const bool required = settings.client_auth == ClientAuth::kRequireAny ||
                          settings.client_auth == ClientAuth::kRequireAndVerify;
    ssl_.SSL_CTX_set_verify(context_.get(),
                            SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                            nullptr);
    allowed_sans_ = settings.client_allowed_sans;
    ssl_.SSL_CTX_set_cert_verify_callback(context_.get(), judge_client, this);
    if (settings.client_ca_file.empty() && settings.client_ca.empty()) return {};
    return use_client_authorities(ssl_, context_.get(),
                                  {"client_ca", settings.client_ca_file, settings.client_ca});
  }

  /// 1: the client's certificate is good. `self`: the context, which outlives its sessions.
  static int judge_client(X509_STORE_CTX* store, void* self) {
    const auto& context = *static_cast<const OpensslContext*>(self);
    if (context.verifies_ && context.ssl_.X509_verify_cert(store) != 1) return 0;
    if (context.allowed_sans_.empty() ||
        has_allowed_name(context.ssl_, context.ssl_.X509_STORE_CTX_get0_cert(store),
                         context.allowed_sans_))
      return 1;
    context.ssl_.X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }

  OpensslFunctions ssl_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  bool verifies_ = false;
  std::vector<std::string> allowed_sans_;
};

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const WebTls& settings) {
  const auto functions = OpensslFunctions::load();
  if (!functions) return functions.error();
  const auto context = std::make_shared<OpensslContext>(*functions);
  if (auto configured = context->configure(settings); !configured) return configured.error();
  return std::shared_ptr<const TlsContext>(context);
}

}  // namespace linkhealth
