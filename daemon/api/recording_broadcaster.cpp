#include "daemon/api/recording_broadcaster.h"

#include <utility>

namespace linkhealth {

HttpStream::State RecordingBroadcaster::Listener::next(SteadyTime now, std::string& lines) {
  const std::lock_guard lock(mutex_);
  if (fell_behind_) return HttpStream::State::kBroken;
  if (now >= deadline_) ended_ = true;
  if (lines_.empty()) return ended_ ? HttpStream::State::kEnded : HttpStream::State::kNothingYet;
  for (const std::string& line : lines_) lines += line;
  lines_.clear();
  waiting_bytes_ = 0;
  return HttpStream::State::kBytes;
}

void RecordingBroadcaster::set_header(std::string line) {
  const std::lock_guard lock(mutex_);
  header_ = std::move(line);
}

void RecordingBroadcaster::set_known(SteadyTime t, std::function<std::string()> make) {
  const std::lock_guard lock(mutex_);
  known_at_ = t;
  make_known_ = std::move(make);
}

std::vector<std::shared_ptr<RecordingBroadcaster::Listener>> RecordingBroadcaster::listeners()
    const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Listener>> alive;
  std::erase_if(listeners_, [&](const std::weak_ptr<Listener>& weak) {
    auto listener = weak.lock();
    if (listener != nullptr) alive.push_back(listener);
    return listener == nullptr;
  });
  return alive;
}

Result<std::shared_ptr<RecordingBroadcaster::Listener>> RecordingBroadcaster::listen(
    SteadyTime now, Milliseconds duration) {
  const std::size_t already = listeners().size();
  auto listener = std::make_shared<Listener>();
  std::function<std::string()> make_known;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || header_.empty())
      return Error{"the daemon cannot record now: it is starting or stopping"};
    if (already >= max_listeners_)
      return Error{"too many recordings are under way: wait for one of them to end"};
    listener->duration_ = duration;
    listener->deadline_ = now + duration;
    listener->lines_.push_back(header_ + "\n");
    make_known = make_known_;
    if (make_known) listener->begins_after_ = known_at_;
    listeners_.push_back(listener);
  }
  if (!make_known) return listener;  // before the first step, which has everything
  std::string line = make_known() + "\n";
  const std::lock_guard lock(listener->mutex_);
  listener->lines_.insert(listener->lines_.begin() + 1, std::move(line));
  return listener;
}

void RecordingBroadcaster::publish(SteadyTime t, const std::string& line) {
  for (const auto& listener : listeners()) {
    const std::lock_guard lock(listener->mutex_);
    if (listener->ended_ || (listener->begins_after_ && t <= *listener->begins_after_)) continue;
    if (!listener->until_) listener->until_ = t + listener->duration_;
    listener->waiting_bytes_ += line.size() + 1;
    listener->fell_behind_ = listener->waiting_bytes_ > max_waiting_bytes_;
    listener->lines_.push_back(line + "\n");
    listener->ended_ = listener->fell_behind_ || t >= *listener->until_;
  }
}

void RecordingBroadcaster::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (const auto& listener : listeners()) {
    const std::lock_guard lock(listener->mutex_);
    listener->ended_ = true;
  }
}

}  // namespace linkhealth
