#include "daemon/password_checker.h"

#include <crypt.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "base/loaded_library.h"
#include "base/quiet_thread.h"
#include "base/text.h"

namespace linkhealth {

namespace {

/// Takes as long whatever differs.
bool same_bytes(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char letter : text) {
    const auto value = kLetters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U | static_cast<unsigned>(value)) & 0xffffU;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
    }
  }
  return out;
}

}  // namespace

std::optional<Credentials> basic_credentials(std::string_view authorization) {
  constexpr std::string_view kScheme = "basic ";
  if (authorization.size() < kScheme.size()) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i)
    if ((authorization[i] | 0x20) != kScheme[i]) return std::nullopt;
  const auto decoded = base64_decoded(trim(authorization.substr(kScheme.size())));
  const std::size_t colon = decoded ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos || decoded->find('\0') != std::string::npos) return std::nullopt;
  return Credentials{decoded->substr(0, colon), decoded->substr(colon + 1)};
}

PasswordChecker::PasswordChecker(Compare compare, std::function<void()> on_done)
    : compare_(std::move(compare)), on_done_(std::move(on_done)) {}

PasswordChecker::~PasswordChecker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool PasswordChecker::remembered(const Credentials& credentials, const std::string& hash) const {
  return std::ranges::any_of(right_, [&](const Right& right) {
    return right.user == credentials.user && right.hash == hash &&
           same_bytes(right.password, credentials.password);
  });
}

PasswordChecker::Verdict PasswordChecker::ask(std::uint64_t ticket, const Credentials& credentials,
                                              const std::string* hash, const std::string& decoy) {
  const std::lock_guard lock(mutex_);
  if (hash != nullptr && remembered(credentials, *hash)) return Verdict::kRight;
  if (const auto done = done_.find(ticket); done != done_.end()) {
    const bool right = done->second;
    done_.erase(done);
    return right ? Verdict::kRight : Verdict::kWrong;
  }
  const bool queued =
      under_way_ == ticket ||
      std::ranges::any_of(waiting_, [&](const Check& check) { return check.ticket == ticket; });
  if (queued) return Verdict::kWait;
  if (waiting_.size() >= kMaxWaiting) return Verdict::kBusy;
  waiting_.push_back({ticket, credentials, hash != nullptr ? *hash : decoy, hash != nullptr});
  try {
    if (!thread_.joinable()) thread_ = quiet_thread([this] { run(); });
  } catch (const std::system_error&) {  // the limit of tasks: the next request tries again
    waiting_.pop_back();
    return Verdict::kBusy;
  }
  wanted_.notify_one();
  return Verdict::kWait;
}

void PasswordChecker::forget(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Check& check) { return check.ticket == ticket; });
  done_.erase(ticket);
  if (under_way_ == ticket) under_way_ = 0;  // no connection's ticket: its answer is nobody's
}

void PasswordChecker::forget_all() {
  {
    const std::lock_guard lock(mutex_);
    right_.clear();
    done_.clear();
    waiting_.clear();
    if (under_way_) under_way_ = 0;
  }
  on_done_();  // who waits asks again
}

void PasswordChecker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const Check check = std::move(waiting_.front());
    waiting_.pop_front();
    under_way_ = check.ticket;
    lock.unlock();
    const bool right = compare_(check.credentials.password, check.hash) && check.known_user;
    lock.lock();
    const bool asked_for = *under_way_ == check.ticket;
    under_way_.reset();
    if (asked_for) {
      done_[check.ticket] = right;
      if (right) right_.push_back({check.credentials.user, check.credentials.password, check.hash});
      if (right_.size() > kMaxRemembered) right_.pop_front();
    }
    lock.unlock();
    on_done_();
    lock.lock();
  }
}

Result<PasswordChecker::Compare> bcrypt_compare() {
  auto library = LoadedLibrary::open("libcrypt.so.1");
  if (!library) return library.error();
  decltype(&crypt_r) hash_of = nullptr;
  if (!library->find("crypt_r", hash_of)) return Error{"libcrypt.so.1 has no crypt_r"};
  return PasswordChecker::Compare([hash_of](const std::string& password, const std::string& hash) {
    const auto space = std::make_unique<crypt_data>();
    const char* made = hash_of(password.c_str(), hash.c_str(), space.get());
    return made != nullptr && same_bytes(made, hash);
  });
}

}  // namespace linkhealth
