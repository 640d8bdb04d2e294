// The functions of libssl and libcrypto that we call, found when TLS is configured. Types come from
// OpenSSL's own headers, so a call that doesn't fit is an error of the compiler.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/result.h"

namespace linkhealth {

#define LINKHEALTH_OPENSSL_FUNCTIONS(X) \
  X(TLS_server_method)                  \
  X(SSL_CTX_new)                        \
  X(SSL_CTX_free)                       \
  X(SSL_CTX_ctrl)                       \
  X(SSL_CTX_set_options)                \
  X(SSL_CTX_use_certificate)            \
  X(SSL_CTX_use_PrivateKey)             \
  X(SSL_CTX_check_private_key)          \
  X(SSL_CTX_set_cipher_list)            \
  X(SSL_CTX_set_ciphersuites)           \
  X(SSL_CTX_get_cert_store)             \
  X(SSL_CTX_add_client_CA)              \
  X(SSL_CTX_set_session_id_context)     \
  X(SSL_CTX_set_verify)                 \
  X(SSL_CTX_set_cert_verify_callback)   \
  X(OPENSSL_cipher_name)                \
  X(OPENSSL_sk_num)                     \
  X(OPENSSL_sk_value)                   \
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
  X(BIO_new_mem_buf)                    \
  X(BIO_free_all)                       \
  X(BIO_s_mem)                          \
  X(BIO_read)                           \
  X(BIO_write)                          \
  X(PEM_read_bio_X509)                  \
  X(PEM_read_bio_PrivateKey)            \
  X(EVP_PKEY_free)                      \
  X(ERR_clear_error)                    \
  X(ERR_peek_error)                     \
  X(ERR_reason_error_string)            \
  X(ASN1_STRING_get0_data)              \
  X(ASN1_STRING_length)                 \
  X(GENERAL_NAMES_free)                 \
  X(X509_free)                          \
  X(X509_get_ext_d2i)                   \
  X(X509_get_subject_name)              \
  X(X509_NAME_get_text_by_NID)          \
  X(X509_STORE_add_cert)                \
  X(X509_STORE_CTX_get0_cert)           \
  X(X509_STORE_CTX_set_error)           \
  X(X509_verify_cert)

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
