#include "daemon/sampling/play_source.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace linkhealth {

namespace {

constexpr Milliseconds kRepeatEvery{1'000};

/// The part of a snapshot that is repeated: the ports with their links. The engine keeps the rest.
Snapshot links_of(const Snapshot& snapshot) {
  Snapshot links;
  links.taken_at = snapshot.taken_at;
  links.wall_time = snapshot.wall_time;
  links.uptime_s = snapshot.uptime_s;
  for (const auto& [key, port] : snapshot.ports) {
    links.ports[key].id = port.id;
    links.ports[key].link = port.link;
  }
  return links;
}

}  // namespace

Result<PlaySource> PlaySource::open(const std::string& path, double speed, const Clock& clock) {
  auto reader = RecordingReader::open(path);
  if (!reader) return reader.error();
  auto header = reader->header();
  if (!header) return header.error();
  return PlaySource(std::move(*reader), *std::move(header), speed, clock);
}

void PlaySource::read_ahead() {
  if (next_ || ended_) return;
  auto snapshot = reader_.next();
  if (snapshot && *snapshot) {
    next_ = std::move(**snapshot);
    return;
  }
  ended_ = true;
  std::string sentence =
      fmt::format("the recording has ended after {} snapshots", reader_.snapshot_count());
  if (!snapshot) {
    sentence = snapshot.error().message;
  } else if (!reader_.warning().empty()) {
    sentence += ": " + reader_.warning();
  }
  on_end_(sentence);
}

void PlaySource::read_control() {
  pollfd ready{control_fd_, POLLIN, 0};
  char command = 0;
  while (control_fd_ >= 0 && ::poll(&ready, 1, 0) > 0) {
    if (read(control_fd_, &command, 1) != 1) {
      control_fd_ = -1;  // the other end is closed
    } else if (command == 'h' && !held_since_) {
      held_since_ = clock_->steady();
    } else if (command == 'r' && held_since_) {
      started_at_ += clock_->steady() - *held_since_;
      held_since_.reset();
    }
  }
}

std::optional<Snapshot> PlaySource::repeat() {
  constexpr Milliseconds kStep{1};
  if (!last_ || clock_->steady() - given_at_ < kRepeatEvery) return std::nullopt;
  given_at_ = clock_->steady();
  // no time left before the next one.
  if (next_ && last_->taken_at + 2 * kStep >= next_->taken_at) return std::nullopt;
  last_->taken_at += kStep;
  last_->wall_time += kStep;
  return last_;
}

std::optional<Snapshot> PlaySource::poll() {
  read_control();
  read_ahead();
  if (stands_still()) return repeat();
  if (!first_taken_at_) {
    first_taken_at_ = next_->taken_at;
    started_at_ = clock_->steady();
  }
  if (*until_due() > Milliseconds(0)) return std::nullopt;
  given_at_ = clock_->steady();
  last_ = links_of(*next_);
  return std::exchange(next_, std::nullopt);
}

std::optional<Milliseconds> PlaySource::until_due() const {
  if (stands_still()) {
    if (!last_) return std::nullopt;
    return std::max(kRepeatEvery - (clock_->steady() - given_at_), Milliseconds(0));
  }
  if (!next_ || !first_taken_at_) return Milliseconds(0);
  const double played_s = in_seconds(clock_->steady() - started_at_) * speed_;
  const double wait_s = (in_seconds(next_->taken_at - *first_taken_at_) - played_s) / speed_;
  return wait_s <= 0 ? Milliseconds(0) : from_seconds(wait_s) + Milliseconds(1);
}

}  // namespace linkhealth
