#include "daemon/http/password_checker.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/quiet_thread.h"
#include "base/text.h"

namespace linkhealth {

namespace {

/// Takes as long whatever differs.
bool same_bytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string padded(text);
  while (padded.size() % 4 != 0) padded += '=';  // some clients leave the padding out
  std::string out(padded.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(padded.data()),
                                   static_cast<int>(padded.size()));
  if (size < 0) return std::nullopt;
  // EVP_DecodeBlock() gives a zero byte for each '='.
  const auto padding =
      std::count(padded.end() - std::min<std::ptrdiff_t>(2, size), padded.end(), '=');
  out.resize(static_cast<std::size_t>(size - padding));
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

bool has_bcrypt_hash(const std::string& password, const std::string& hash) {
  // Not crypt_r(): AddressSanitizer's interceptor of it keeps the linker from loading libcrypt.
  void* space = nullptr;
  int size_bytes = 0;
  const char* made = crypt_ra(password.c_str(), hash.c_str(), &space, &size_bytes);
  const std::unique_ptr<void, decltype(&free)> owned(space, free);
  return made != nullptr && same_bytes(made, hash);
}

PasswordChecker::PasswordChecker(Compare compare, Post post)
    : compare_(std::move(compare)),
      post_(std::move(post)),
      thread_(quiet_thread([this] { run(); })) {}

PasswordChecker::~PasswordChecker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool PasswordChecker::is_remembered(const Credentials& credentials, const std::string& hash) const {
  return std::ranges::any_of(remembered_, [&](const auto& known) {
    return known.first.user == credentials.user && known.second == hash &&
           same_bytes(known.first.password, credentials.password);
  });
}

bool PasswordChecker::check(Credentials credentials, std::string hash,
                            std::weak_ptr<const void> client,
                            std::function<void(bool correct)> done) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) return false;
  waiting_.push_back({std::move(credentials), std::move(hash), std::move(client), std::move(done)});
  changed_.notify_one();
  return true;
}

void PasswordChecker::remember(const Check& check) {
  remembered_.emplace_back(check.credentials, check.hash);
  if (remembered_.size() > kMaxRemembered) remembered_.pop_front();
}

void PasswordChecker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Check check = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (!check.client.expired()) {
      const bool correct = compare_(check.credentials.password, check.hash);
      post_([this, correct, check = std::move(check)] {
        if (correct) remember(check);
        check.done(correct);
      });
    }
    lock.lock();
  }
}

}  // namespace linkhealth
