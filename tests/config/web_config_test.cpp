#include "config/web_config.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "config/read_file.h"

namespace linkhealth {
namespace {

constexpr const char* kHash = "$2b$10$8W46rnKLnd7K8TAiFfRxWeJBywkLnSwXafI5FAg1ZmwS2n4dOXqoO";

TEST(WebConfigTest, WhatTheExportersTake) {
  const auto config = load_web_config(R"(tls_server_config:
  cert_file: node.crt
  key_file: /etc/keys/node.key
  client_ca_file: ca.crt
  client_auth_type: RequireAndVerifyClientCert
  min_version: TLS13
  max_version: TLS13
  cipher_suites: [TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [CurveP256, X25519]
http_server_config:
  http2: true
basic_auth_users:
  anna: )" + std::string(kHash) + "\n",
                                      "/etc/linkhealth/web.yml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->tls);
  EXPECT_EQ(config->tls->cert_file, "/etc/linkhealth/node.crt");
  EXPECT_EQ(config->tls->key_file, "/etc/keys/node.key");
  EXPECT_EQ(config->tls->client_auth, ClientAuth::kRequireAndVerify);
  EXPECT_EQ(config->tls->min_version, "TLS13");
  EXPECT_FALSE(config->tls->prefer_server_cipher_suites);
  EXPECT_EQ(config->tls->curves.size(), 2U);
  EXPECT_EQ(config->users.at("anna"), kHash);
  EXPECT_EQ(config->notes.size(), 1U) << "http2";
}

TEST(WebConfigTest, ASecretThatEveryUserCanReadIsAWarning) {
  const std::string path = testing::TempDir() + "secret-" + std::to_string(getpid());
  std::ofstream(path) << "secret";
  chmod(path.c_str(), 0640);
  EXPECT_EQ(exposed_secret(path), "");
  chmod(path.c_str(), 0644);
  EXPECT_EQ(exposed_secret(path), path + ": every user can read this secret (chmod o-r)");
  unlink(path.c_str());
  EXPECT_EQ(exposed_secret(path), "");
  EXPECT_EQ(exposed_secret(""), "");
}

TEST(WebConfigTest, EmptyIsOpenAndPlain) {
  for (const char* text : {"", "# nothing\n", "tls_server_config:\nbasic_auth_users:\n"}) {
    const auto config = load_web_config(text, "web.yml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_FALSE(config->tls);
    EXPECT_TRUE(config->users.empty());
  }
}

TEST(WebConfigTest, RareKeysAreRefused) {
  for (const auto& [text, message] :
       {std::pair("rate_limit: {interval: 1s, burst: 20}\n",
                  "web.yml:1: rate_limit: not supported; limit clients in a proxy or firewall"),
        {"http_server_config: {headers: {X-Frame-Options: deny}}\n",
         "web.yml:1: headers: not supported; linkhealthd sets its own"}}) {
    const auto config = load_web_config(text, "web.yml");
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().message, message);
  }
}

TEST(WebConfigTest, ASecretIsNoPartOfAnError) {
  for (const char* text : {"tls_server_config: {key: [SECRET]}",
                           "tls_server_config: {cert: x, cert_file: y, key: SECRET}",
                           "tls_server_config: {key: SECRET}"}) {
    const auto config = load_web_config(text, "web.yml");
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().message, testing::Not(testing::HasSubstr("SECRET")));
  }
}

TEST(BcryptHash, ItsCostIsBounded) {
  const std::string hash = kHash;
  const auto with = [&](const std::string& begin) {
    return is_bcrypt_hash(begin + hash.substr(begin.size()));
  };
  EXPECT_TRUE(with("$2b$10$"));
  EXPECT_TRUE(with("$2a$04$"));
  EXPECT_TRUE(with("$2y$14$"));
  EXPECT_FALSE(with("$2y$03$"));
  EXPECT_FALSE(with("$2y$15$"));
  EXPECT_FALSE(with("$2x$10$"));
  EXPECT_FALSE(with("$1$"));
  EXPECT_FALSE(is_bcrypt_hash(hash.substr(1)));
  EXPECT_FALSE(is_bcrypt_hash(hash.substr(0, 59) + ":"));
  EXPECT_FALSE(is_bcrypt_hash(""));
}

}  // namespace
}  // namespace linkhealth
