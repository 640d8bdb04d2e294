#include "daemon/web_gate.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "daemon/file_text.h"

namespace linkhealth {

namespace {

/// A bcrypt hash of nothing that anybody knows, of the same cost as `like`: an unknown name takes
/// as long as a known one.
std::string decoy_for(const std::string& like) {
  return like.substr(0, 7) + "abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde";
}

}  // namespace

WebGate::WebGate(std::string file, const Clock& clock, Say say, std::function<void()> wake)
    : file_(std::move(file)), clock_(clock), say_(std::move(say)), wake_(std::move(wake)) {}

Result<std::unique_ptr<WebGate>> WebGate::open(const std::string& file, const Clock& clock, Say say,
                                               std::function<void()> wake) {
  std::unique_ptr<WebGate> gate(new WebGate(file, clock, std::move(say), std::move(wake)));
  gate->looked_at_ = clock.steady();
  if (auto loaded = gate->load(); !loaded) return loaded.error();
  gate->stamp_ = gate->stamp(gate->config_);
  gate->say_notes();
  return gate;
}

Result<std::vector<std::string>> WebGate::check(const std::string& file) {
  struct NoClock : Clock {
    [[nodiscard]] SteadyTime steady() const override { return {}; }
    [[nodiscard]] WallTime wall() const override { return {}; }
  };
  const NoClock clock;
  std::vector<std::string> notes;
  const auto gate = open(
      file, clock, [&](bool, const std::string& line) { notes.push_back(line); }, [] {});
  if (!gate) return gate.error();
  return notes;
}

std::string WebGate::stamp(const WebConfig& config) const {
  std::string text;
  const auto add = [&](const std::string& path) {
    struct stat info {};
    if (path.empty()) return;
    if (stat(path.c_str(), &info) != 0) {
      text += fmt::format("-{};", errno);
      return;
    }
    text += fmt::format("{}.{}.{}.{};", info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size,
                        info.st_ino);
  };
  add(file_);
  if (config.tls) {
    add(config.tls->cert_file);
    add(config.tls->key_file);
    add(config.tls->client_ca_file);
  }
  return text;
}

Result<void> WebGate::load() {
  const auto text = read_file_text(file_);
  if (!text) return text.error();
  auto config = load_web_config(*text, file_);
  if (!config) return config.error();
  std::shared_ptr<const TlsContext> tls;
  if (config->tls) {
    auto made = TlsContext::make(*config->tls);
    if (!made) return Error{file_ + ": " + made.error().message};
    tls = *std::move(made);
  }
  if (!config->users.empty() && passwords_ == nullptr) {
    auto compare = bcrypt_compare();
    if (!compare) return Error{file_ + ": " + compare.error().message};
    passwords_ = std::make_unique<PasswordChecker>(*std::move(compare), wake_);
  }
  if (!config->users.empty()) decoy_ = decoy_for(config->users.begin()->second);
  const bool other_users = config->users != config_.users;
  if (config->rate_limit != config_.rate_limit) {
    rate_limit_.reset();
    if (config->rate_limit) rate_limit_.emplace(*config->rate_limit, clock_.steady());
  }
  config_ = *std::move(config);
  tls_ = std::move(tls);
  if (passwords_ != nullptr && other_users) passwords_->forget_all();
  return {};
}

void WebGate::look() {
  const SteadyTime now = clock_.steady();
  if (now - looked_at_ < kLookEvery) return;
  looked_at_ = now;
  if (stamp(config_) != stamp_) reread();
}

void WebGate::on_wake() {
  if (!look_again_.exchange(false)) return;
  looked_at_ = clock_.steady();
  reread();
}

void WebGate::reread() {
  std::string seen = stamp(config_);
  if (const auto loaded = load(); loaded) {
    say_(true, file_ + ": read anew");
    say_notes();
    seen = stamp(config_);
  } else {
    say_(false, loaded.error().message + ": what was read before stays in force");
  }
  stamp_ = std::move(seen);
}

void WebGate::say_notes() const {
  for (const std::string& note : config_.notes) say_(true, note);
}

std::unique_ptr<TlsSession> WebGate::accept(bool& good) {
  look();
  if (tls_ == nullptr) return nullptr;
  auto session = tls_->accept();
  good = session != nullptr;
  return session;
}

HttpGate::Admission WebGate::admit(ApiRequest& request, const TlsSession* session,
                                   std::uint64_t ticket) {
  look();
  request.caller.way = Caller::Way::kTcp;
  // A request that waits for its password is asked about again, and counts once.
  if (counted_.erase(ticket) == 0 && rate_limit_ && !rate_limit_->take(clock_.steady()))
    return Admission::kTooMany;
  if (config_.users.empty()) {
    request.caller.user = session != nullptr ? session->client_name() : "";
    request.caller.may_act = !request.caller.user.empty();
    return Admission::kAdmitted;
  }
  const auto credentials = basic_credentials(request.authorization);
  if (!credentials) return Admission::kRefused;
  const auto user = config_.users.find(credentials->user);
  const std::string* hash = user == config_.users.end() ? nullptr : &user->second;
  switch (passwords_->ask(ticket, *credentials, hash, decoy_)) {
    case PasswordChecker::Verdict::kRight:
      request.caller.user = credentials->user;
      request.caller.may_act = true;
      return Admission::kAdmitted;
    case PasswordChecker::Verdict::kWait:
      counted_.insert(ticket);
      return Admission::kWait;
    case PasswordChecker::Verdict::kBusy:
      return Admission::kBusy;
    case PasswordChecker::Verdict::kWrong:
      break;
  }
  return Admission::kRefused;
}

void WebGate::forget(std::uint64_t ticket) {
  counted_.erase(ticket);
  if (passwords_ != nullptr) passwords_->forget(ticket);
}

}  // namespace linkhealth
