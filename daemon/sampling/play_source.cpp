#include "daemon/sampling/play_source.h"

#include <fmt/format.h>

#include <utility>

namespace linkhealth {

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

std::optional<Snapshot> PlaySource::poll() {
  read_ahead();
  if (!next_) return std::nullopt;
  if (!first_taken_at_) {
    first_taken_at_ = next_->taken_at;
    started_at_ = clock_->steady();
  }
  if (*until_due() > Milliseconds(0)) return std::nullopt;
  return std::exchange(next_, std::nullopt);
}

std::optional<Milliseconds> PlaySource::until_due() const {
  if (ended_) return std::nullopt;
  if (!next_ || !first_taken_at_) return Milliseconds(0);
  const double played_s = in_seconds(clock_->steady() - started_at_) * speed_;
  const double wait_s = (in_seconds(next_->taken_at - *first_taken_at_) - played_s) / speed_;
  return wait_s <= 0 ? Milliseconds(0) : from_seconds(wait_s) + Milliseconds(1);
}

}  // namespace linkhealth
