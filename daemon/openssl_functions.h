// The functions of libssl and libcrypto that we call, found when TLS is configured. Types come from OpenSSL's own
// headers, so a call that doesn't fit is an error of the compiler.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/result.h"

namespace linkhealth {

#define LINKHEALTH_OPENSSL_FUNCTIONS(X) \
  X(TLS_server_method)                  \
  X(SSL_CTX_new)                        \
  X(SSL_CTX_free)                       \
  X(SSL_CTX_ctrl)                       \
  X(SSL_CTX_set_options)                \
  X(SSL_CTX_set_default_passwd_cb)      \
  X(SSL_CTX_use_certificate_chain_file) \
  X(SSL_CTX_use_PrivateKey_file)        \
  X(SSL_CTX_check_private_key)          \
  X(SSL_CTX_set_cipher_list)            \
  X(SSL_CTX_set_ciphersuites)           \
  X(SSL_CTX_load_verify_file)           \
  X(SSL_CTX_set_client_CA_list)         \
  X(SSL_CTX_set_session_id_context)     \
  X(SSL_CTX_set_verify)                 \
  X(SSL_load_client_CA_file)            \
  X(OPENSSL_cipher_name)                \
  X(SSL_new)                            \
  X(SSL_free)                           \
  X(SSL_set_bio)                        \
  X(SSL_set_accept_state)               \
  X(SSL_read)                           \
  X(SSL_write)                          \
  X(SSL_get_error)                      \
  X(SSL_get1_peer_certificate)          \
  X(SSL_get_verify_result)              \
  X(BIO_new)                            \
  X(BIO_s_mem)                          \
  X(BIO_read)                           \
  X(BIO_write)                          \
  X(ERR_clear_error)                    \
  X(ERR_peek_error)                     \
  X(ERR_reason_error_string)            \
  X(X509_free)                          \
  X(X509_get_subject_name)              \
  X(X509_NAME_get_text_by_NID)

struct OpensslFunctions {
#define LINKHEALTH_MEMBER(name) \
  decltype(&::name) name = nullptr; /* NOLINT(bugprone-macro-parentheses): it is a member */
  LINKHEALTH_OPENSSL_FUNCTIONS(LINKHEALTH_MEMBER)
#undef LINKHEALTH_MEMBER

  /// Loads the library. Cheap when it is there already.
  static Result<OpensslFunctions> load();
  /// What the library says of the last failure: "no such file or directory", "key values mismatch".
  [[nodiscard]] const char* why() const;
};

}  // namespace linkhealth
