#include "daemon/tls_pem.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "daemon/file_text.h"

namespace linkhealth {

namespace {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

/// Or the library would ask the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return 0; }

std::string name_of(const PemSource& source) {
  return source.file.empty() ? std::string(source.key)
                             : fmt::format("{}_file {}", source.key, source.file);
}

Error bad_pem(const OpensslFunctions& ssl, const PemSource& source) {
  return Error{fmt::format("{}: {}", name_of(source), ssl.why())};
}

Result<std::string> text_of(const PemSource& source) {
  if (source.file.empty()) return source.text;
  auto text = read_file_text(source.file);
  if (!text) return Error{fmt::format("{}_file {}", source.key, text.error().message)};
  return text;
}

Owned<BIO> reader_of(const OpensslFunctions& ssl, const std::string& text) {
  return {ssl.BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), ssl.BIO_free_all};
}

Owned<X509> next_certificate(const OpensslFunctions& ssl, BIO* reader) {
  return {ssl.PEM_read_bio_X509(reader, nullptr, no_passphrase, nullptr), ssl.X509_free};
}

/// After the last certificate the library says "no start line": the end, and no error.
bool at_the_end(const OpensslFunctions& ssl) {
  const unsigned long error = ssl.ERR_peek_error();
  ssl.ERR_clear_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

Result<void> use_chain(const OpensslFunctions& ssl, SSL_CTX* context, const PemSource& source) {
  const auto text = text_of(source);
  if (!text) return text.error();
  const auto reader = reader_of(ssl, *text);
  const auto own = next_certificate(ssl, reader.get());
  if (own == nullptr || ssl.SSL_CTX_use_certificate(context, own.get()) != 1)
    return bad_pem(ssl, source);
  for (;;) {
    const auto next = next_certificate(ssl, reader.get());
    if (next == nullptr) break;
    if (ssl.SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, next.get()) != 1)
      return bad_pem(ssl, source);
  }
  if (!at_the_end(ssl))
    return Error{name_of(source) + ": what follows the first certificate is damaged"};
  return {};
}

bool is_address(std::string_view bytes, const std::string& text) {
  std::array<char, sizeof(in6_addr)> address{};
  const int family = text.find(':') != std::string::npos ? AF_INET6 : AF_INET;
  if (inet_pton(family, text.c_str(), address.data()) != 1) return false;
  return bytes ==
         std::string_view(address.data(), family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr));
}

bool is_name(const OpensslFunctions& ssl, const GENERAL_NAME* name, const std::string& allowed) {
  if (name->type != GEN_DNS && name->type != GEN_EMAIL && name->type != GEN_URI &&
      name->type != GEN_IPADD)
    return false;
  const ASN1_STRING* const value = name->type == GEN_IPADD ? name->d.iPAddress : name->d.ia5;
  const std::string_view bytes(reinterpret_cast<const char*>(ssl.ASN1_STRING_get0_data(value)),
                               static_cast<std::size_t>(ssl.ASN1_STRING_length(value)));
  return name->type == GEN_IPADD ? is_address(bytes, allowed) : bytes == allowed;
}

}  // namespace

Result<void> use_certificate(const OpensslFunctions& ssl, SSL_CTX* context,
                             const PemSource& certificate, const PemSource& key) {
  if (auto used = use_chain(ssl, context, certificate); !used) return used;
  const auto text = text_of(key);
  if (!text) return text.error();
  const auto reader = reader_of(ssl, *text);
  const Owned<EVP_PKEY> read(
      ssl.PEM_read_bio_PrivateKey(reader.get(), nullptr, no_passphrase, nullptr),
      ssl.EVP_PKEY_free);
  if (read == nullptr || ssl.SSL_CTX_use_PrivateKey(context, read.get()) != 1 ||
      ssl.SSL_CTX_check_private_key(context) != 1)
    return bad_pem(ssl, key);
  return {};
}

Result<void> use_client_authorities(const OpensslFunctions& ssl, SSL_CTX* context,
                                    const PemSource& authorities) {
  const auto text = text_of(authorities);
  if (!text) return text.error();
  const auto reader = reader_of(ssl, *text);
  int count = 0;
  for (;; ++count) {
    const auto next = next_certificate(ssl, reader.get());
    if (next == nullptr) break;
    if (ssl.X509_STORE_add_cert(ssl.SSL_CTX_get_cert_store(context), next.get()) != 1 ||
        ssl.SSL_CTX_add_client_CA(context, next.get()) != 1)
      return bad_pem(ssl, authorities);
  }
  if (count == 0) return bad_pem(ssl, authorities);
  if (!at_the_end(ssl))
    return Error{name_of(authorities) + ": what follows a good certificate is damaged"};
  return {};
}

bool has_allowed_name(const OpensslFunctions& ssl, const X509* certificate,
                      const std::vector<std::string>& allowed) {
  const Owned<GENERAL_NAMES> names(static_cast<GENERAL_NAMES*>(ssl.X509_get_ext_d2i(
                                       certificate, NID_subject_alt_name, nullptr, nullptr)),
                                   ssl.GENERAL_NAMES_free);
  if (names == nullptr) return false;
  const auto* const list = reinterpret_cast<const OPENSSL_STACK*>(names.get());
  for (int i = 0; i < ssl.OPENSSL_sk_num(list); ++i) {
    const auto* const name = static_cast<const GENERAL_NAME*>(ssl.OPENSSL_sk_value(list, i));
    if (std::ranges::any_of(allowed,
                            [&](const std::string& one) { return is_name(ssl, name, one); }))
      return true;
  }
  return false;
}

}  // namespace linkhealth
