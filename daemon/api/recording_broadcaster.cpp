#include "daemon/api/recording_broadcaster.h"

#include <utility>

namespace linkhealth {

HttpStream::State RecordingBroadcaster::Listener::next(SteadyTime now, std::string& lines) {
  const std::lock_guard lock(mutex_);
  if (fell_behind_) return HttpStream::State::kBroken;
  if (now >= deadline_) ended_ = true;
  if (lines_.empty()) return ended_ ? HttpStream::State::kEnded : HttpStream::State::kNothingYet;
  lines += std::exchange(lines_, {});
  return HttpStream::State::kBytes;
}

void RecordingBroadcaster::set_header(MakeLine make_header) {
  const std::lock_guard lock(mutex_);
  make_header_ = std::move(make_header);
}

std::vector<std::shared_ptr<RecordingBroadcaster::Listener>> RecordingBroadcaster::listeners()
    const {
  std::vector<std::shared_ptr<Listener>> alive;
  std::erase_if(listeners_, [&](const std::weak_ptr<Listener>& weak) {
    auto listener = weak.lock();
    if (listener != nullptr) alive.push_back(listener);
    return listener == nullptr;
  });
  return alive;
}

bool RecordingBroadcaster::has_listeners() const {
  const std::lock_guard lock(mutex_);
  return !listeners().empty();
}

Result<std::shared_ptr<RecordingBroadcaster::Listener>> RecordingBroadcaster::listen(
    SteadyTime now, Milliseconds duration) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !make_header_) return Error{"the daemon cannot record while it starts or stops"};
  if (listeners().size() >= max_listeners_)
    return Error{"too many recordings in progress: wait until one ends"};
  auto listener = std::make_shared<Listener>();
  listener->duration_ = duration;
  listener->deadline_ = now + duration;
  listener->lines_ = make_header_() + "\n";
  // otherwise the first step has everything.
  if (make_known_) listener->lines_ += make_known_() + "\n";
  listeners_.push_back(listener);
  return listener;
}

void RecordingBroadcaster::publish(SteadyTime t, MakeLine make_known, const MakeLine& make_line) {
  const std::lock_guard lock(mutex_);
  make_known_ = std::move(make_known);
  const auto alive = listeners();
  if (alive.empty()) return;
  const std::string line = make_line() + "\n";
  for (const auto& listener : alive) {
    const std::lock_guard listener_lock(listener->mutex_);
    if (listener->ended_) continue;
    if (!listener->until_) listener->until_ = t + listener->duration_;
    listener->lines_ += line;
    listener->fell_behind_ = listener->lines_.size() > max_waiting_bytes_;
    listener->ended_ = listener->fell_behind_ || t >= *listener->until_;
  }
}

void RecordingBroadcaster::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& listener : listeners()) {
    const std::lock_guard listener_lock(listener->mutex_);
    listener->ended_ = true;
  }
}

}  // namespace linkhealth
