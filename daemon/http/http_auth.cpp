#include "daemon/http/http_auth.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "config/config.h"
#include "config/read_file.h"
#include "daemon/http/tls_context.h"

namespace linkhealth {

namespace {

struct LoadedConfig {
  WebConfig config;
  std::shared_ptr<SSL_CTX> tls;
};

Result<LoadedConfig> load_files(const std::string& file) {
  const auto text = read_small_file(file, kMaxConfigBytes);
  if (!text) return text.error();
  auto config = load_web_config(*text, file);
  if (!config) return config.error();
  LoadedConfig loaded{*std::move(config), nullptr};
  if (!loaded.config.tls) return loaded;
  auto tls = make_tls_context(*loaded.config.tls);
  if (!tls) return Error{file + ": " + tls.error().message};
  loaded.tls = *std::move(tls);
  return loaded;
}

/// Warnings about passwords and keys that other users can read.
std::vector<std::string> exposed_secrets(const std::string& file, const WebConfig& config) {
  std::vector<std::string> warnings;
  const auto look = [&warnings](const std::string& path) {
    if (std::string warning = exposed_secret(path); !warning.empty())
      warnings.push_back(std::move(warning));
  };
  if (!config.users.empty() || (config.tls && !config.tls->key.empty())) look(file);
  if (config.tls) look(config.tls->key_file);
  return warnings;
}

/// A bcrypt hash of an unknown password, with the same cost as `like`: checking an unknown user
/// must take as long as checking a known one.
std::string decoy_like(const std::string& like) {
  return like.substr(0, 7) + "abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde";
}

}  // namespace

Result<std::unique_ptr<HttpAuth>> HttpAuth::open(const std::string& file, const Clock& clock,
                                                 const Log& log, PasswordChecker::Post post) {
  std::unique_ptr<HttpAuth> auth(new HttpAuth(file, clock, log, std::move(post)));
  if (auto loaded = auth->load(); !loaded) return loaded.error();
  auth->looked_at_ = clock.steady();
  auth->stamp_ = auth->file_stamp();
  return auth;
}

Result<std::vector<std::string>> HttpAuth::check(const std::string& file) {
  auto loaded = load_files(file);
  if (!loaded) return loaded.error();
  auto notes = exposed_secrets(file, loaded->config);
  notes.insert(notes.end(), loaded->config.notes.begin(), loaded->config.notes.end());
  return notes;
}

Result<void> HttpAuth::load() {
  auto loaded = load_files(file_);
  if (!loaded) return loaded.error();
  if (loaded->config.users != config_.users) passwords_.forget_all();
  config_ = std::move(loaded->config);
  tls_ = std::move(loaded->tls);
  for (const std::string& note : config_.notes) log_.info(note);
  for (const std::string& warning : exposed_secrets(file_, config_)) log_.warning(warning);
  return {};
}

std::string HttpAuth::file_stamp() const {
  std::vector<std::string> files = {file_};
  if (config_.tls)
    files.insert(files.end(),
                 {config_.tls->cert_file, config_.tls->key_file, config_.tls->client_ca_file});
  std::string stamp;
  for (const std::string& file : files) {
    struct stat info {};
    if (file.empty()) continue;
    if (stat(file.c_str(), &info) != 0)
      stamp += fmt::format("-{};", errno);
    else
      stamp += fmt::format("{}.{}.{}.{};", info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size,
                           info.st_ino);
  }
  return stamp;
}

void HttpAuth::reload_if_changed() {
  const SteadyTime now = clock_.steady();
  if (now - looked_at_ < kLookPeriod) return;
  looked_at_ = now;
  if (file_stamp() != stamp_) reload();
}

void HttpAuth::reload() {
  const std::string before = file_stamp();
  if (const auto loaded = load(); loaded) {
    log_.info(file_ + ": reloaded");
    stamp_ = file_stamp();
  } else {
    log_.error(loaded.error().message + ": the previous settings stay in force");
    stamp_ = before;
  }
}

std::shared_ptr<SSL_CTX> HttpAuth::tls_context() {
  reload_if_changed();
  return tls_;
}

void HttpAuth::authenticate(const HttpRequest& request, const SSL* session,
                            std::weak_ptr<const void> client,
                            const std::function<void(Answer)>& done) {
  reload_if_changed();
  if (config_.users.empty()) {
    return done(
        {Verdict::kAdmitted, session != nullptr ? verified_client_name(session) : std::string()});
  }
  auto credentials = basic_credentials(request.authorization);
  if (!credentials) return done({});
  const auto user = config_.users.find(credentials->user);
  const bool known = user != config_.users.end();
  const std::string hash = known ? user->second : decoy_like(config_.users.begin()->second);
  const Answer admitted{Verdict::kAdmitted, credentials->user};
  const auto found = [known, admitted, done](PasswordChecker::Finding correct) {
    if (!correct) return done({Verdict::kBusy, ""});
    done(known && *correct ? admitted : Answer{});
  };
  if (const auto correct = passwords_.remembered(*credentials, hash)) return found(correct);
  passwords_.check(*std::move(credentials), hash, request.caller.network, std::move(client), found);
}

}  // namespace linkhealth
