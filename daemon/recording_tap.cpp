#include "daemon/recording_tap.h"

#include <algorithm>
#include <utility>

namespace linkhealth {

RecordingTap::State RecordingTap::Listener::next(SteadyTime now, Milliseconds wait,
                                                 std::string& line) {
  std::unique_lock lock(mutex_);
  if (now >= deadline_) ended_ = true;
  const auto left = std::chrono::ceil<Milliseconds>(deadline_ - now);
  changed_.wait_for(lock, std::min(wait, left), [&] { return !lines_.empty() || ended_; });
  if (fell_behind_) return State::kFellBehind;
  if (lines_.empty()) return ended_ ? State::kEnded : State::kNothingYet;
  line = std::move(lines_.front());
  lines_.pop_front();
  bytes_ -= line.size();
  return State::kLine;
}

void RecordingTap::set_header(std::string line) {
  const std::lock_guard lock(mutex_);
  header_ = std::move(line);
}

std::vector<std::shared_ptr<RecordingTap::Listener>> RecordingTap::listeners() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Listener>> alive;
  std::erase_if(listeners_, [&](const std::weak_ptr<Listener>& weak) {
    auto listener = weak.lock();
    if (!listener) return true;
    alive.push_back(std::move(listener));
    return false;
  });
  return alive;
}

Result<std::shared_ptr<RecordingTap::Listener>> RecordingTap::listen(SteadyTime now,
                                                                     Milliseconds duration) {
  const std::size_t already = listeners().size();
  auto listener = std::make_shared<Listener>();
  std::function<std::string()> all_known;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || header_.empty())
      return Error{"the daemon does not record now: it is starting or stopping"};
    if (already >= max_listeners_)
      return Error{"too many recordings are under way: wait for one of them to end"};
    listener->duration_ = duration;
    listener->deadline_ = now + duration;
    listener->lines_.push_back(header_ + "\n");
    listener->bytes_ = listener->lines_.front().size();
    all_known = all_known_;
    if (all_known) listener->begins_at_ = noted_at_;
    listeners_.push_back(listener);
  }
  if (!all_known) return listener;  // before the first step, which has everything
  std::string line = all_known() + "\n";
  const std::lock_guard lock(listener->mutex_);
  listener->bytes_ += line.size();
  listener->lines_.insert(listener->lines_.begin() + 1,
                          std::move(line));  // before what came meanwhile
  return listener;
}

void RecordingTap::note(SteadyTime t, std::function<std::string()> all_known) {
  const std::lock_guard lock(mutex_);
  noted_at_ = t;
  all_known_.swap(all_known);
}

bool RecordingTap::wanted() const { return !listeners().empty(); }

void RecordingTap::push(SteadyTime t, const std::string& line) {
  for (const auto& listener : listeners()) {
    const std::lock_guard lock(listener->mutex_);
    if (listener->ended_ || (listener->begins_at_ && t <= *listener->begins_at_)) continue;
    if (!listener->until_) listener->until_ = t + listener->duration_;
    if (listener->bytes_ + line.size() > max_waiting_bytes_)
      listener->fell_behind_ = listener->ended_ = true;
    else {
      listener->lines_.push_back(line + "\n");
      listener->bytes_ += line.size() + 1;
      listener->ended_ = t >= *listener->until_;
    }
    listener->changed_.notify_all();
  }
}

void RecordingTap::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (const auto& listener : listeners()) {
    const std::lock_guard lock(listener->mutex_);
    listener->ended_ = true;
    listener->changed_.notify_all();
  }
}

}  // namespace linkhealth
