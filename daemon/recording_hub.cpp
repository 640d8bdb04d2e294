#include "daemon/recording_hub.h"

#include <algorithm>
#include <utility>

namespace linkhealth {

std::optional<std::string> RecordingHub::Subscription::next(Milliseconds patience) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, patience, [this] { return over_ || !lines_.empty(); });
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  bytes_ -= line.size();
  return line;
}

bool RecordingHub::Subscription::over() const {
  const std::lock_guard lock(mutex_);
  return over_ && lines_.empty();
}

RecordingHub::RecordingHub(std::size_t max_listeners, std::size_t max_bytes)
    : max_listeners_(max_listeners), max_bytes_(max_bytes) {}

std::shared_ptr<RecordingHub::Subscription> RecordingHub::subscribe() {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const Listener& listener) { return listener.subscription.expired(); });
  if (closed_ || listeners_.size() >= max_listeners_) return nullptr;
  auto subscription = std::make_shared<Subscription>();
  listeners_.push_back({subscription, true});
  return subscription;
}

bool RecordingHub::has_newcomer() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [](const Listener& listener) { return listener.newcomer && !listener.subscription.expired(); });
}

bool RecordingHub::has_listeners() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [](const Listener& listener) { return !listener.subscription.expired(); });
}

void RecordingHub::publish(const std::string& opening, const std::string& line) {
  const std::lock_guard lock(mutex_);
  for (Listener& listener : listeners_) {
    const auto subscription = listener.subscription.lock();
    if (!subscription) continue;
    const std::string& text = std::exchange(listener.newcomer, false) ? opening : line;
    const std::lock_guard inner(subscription->mutex_);
    if (subscription->over_) continue;
    if (subscription->bytes_ + text.size() > max_bytes_) {
      subscription->over_ = true;
    } else {
      subscription->lines_.push_back(text);
      subscription->bytes_ += text.size();
    }
    subscription->arrived_.notify_one();
  }
}

void RecordingHub::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const Listener& listener : listeners_) {
    if (const auto subscription = listener.subscription.lock()) {
      const std::lock_guard inner(subscription->mutex_);
      subscription->over_ = true;
      subscription->arrived_.notify_one();
    }
  }
}

}  // namespace linkhealth
