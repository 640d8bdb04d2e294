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

/// Constant time, wherever they differ.
bool same_bytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string padded(text);
  while (padded.size() % 4 != 0) padded += '=';  // some clients omit the padding
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

/// Stored instead of the password: a dump of the daemon's memory does not contain it.
std::string digest_of(const Credentials& credentials, const std::string& hash) {
  const std::string text = hash + '\0' + credentials.user + '\0' + credentials.password;
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
             EVP_sha256(), nullptr);
  digest.resize(size);
  return digest;
}

bool contains(const std::deque<std::string>& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

void push_bounded(std::deque<std::string>& texts, std::string text, std::size_t limit) {
  std::erase(texts, text);
  texts.push_back(std::move(text));
  if (texts.size() > limit) texts.pop_front();
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
  // Not crypt_r(): AddressSanitizer's interceptor for it prevents the linker from loading libcrypt.
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

PasswordChecker::Finding PasswordChecker::remembered(const Credentials& credentials,
                                                     const std::string& hash) const {
  const std::string digest = digest_of(credentials, hash);
  if (contains(correct_, digest)) return true;
  if (contains(wrong_, digest)) return false;
  return std::nullopt;
}

void PasswordChecker::check(Credentials credentials, std::string hash, const std::string& address,
                            std::weak_ptr<const void> client, std::function<void(Finding)> done) {
  const auto left_out = enqueue({std::move(credentials), std::move(hash), address,
                                 std::move(client), std::move(done), contains(suspects_, address)});
  if (left_out && !left_out->client.expired()) left_out->done(std::nullopt);
}

std::optional<PasswordChecker::Check> PasswordChecker::enqueue(Check check) {
  const std::lock_guard lock(mutex_);
  const auto same = std::ranges::count(waiting_, check.address, &Check::address);
  if (static_cast<std::size_t>(same) >= kMaxOfAddress) return check;
  std::optional<Check> left_out;
  if (waiting_.size() >= kMaxWaiting) {
    const auto suspect = std::ranges::find(waiting_, true, &Check::suspect);
    if (check.suspect || suspect == waiting_.end()) return check;
    left_out = std::move(*suspect);
    waiting_.erase(suspect);
  }
  waiting_.push_back(std::move(check));
  changed_.notify_one();
  return left_out;
}

PasswordChecker::Check PasswordChecker::take_next() {
  auto next = std::ranges::find(waiting_, false, &Check::suspect);
  if (next == waiting_.end()) next = waiting_.begin();
  Check check = std::move(*next);
  waiting_.erase(next);
  return check;
}

void PasswordChecker::remember(const Check& check, bool correct) {
  push_bounded(correct ? correct_ : wrong_, digest_of(check.credentials, check.hash),
               kMaxRemembered);
  if (!correct) push_bounded(suspects_, check.address, kMaxRemembered);
}

void PasswordChecker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Check check = take_next();
    lock.unlock();
    if (!check.client.expired()) {
      const bool correct = compare_(check.credentials.password, check.hash);
      post_([this, correct, check = std::move(check)] {
        remember(check, correct);
        check.done(correct);
      });
    }
    lock.lock();
  }
}

}  // namespace linkhealth
