// A recording played as if it happened now: the same engine, metrics and API, without hardware.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "daemon/sampling/source.h"
#include "storage/recording/recording.h"

namespace linkhealth {

class PlaySource : public Source {
 public:
  /// `speed`: seconds of the recording in a second. The snapshots keep the times that were
  /// recorded.
  static Result<PlaySource> open(const std::string& path, double speed, const Clock& clock);

  std::optional<Snapshot> poll() override;
  [[nodiscard]] std::optional<Milliseconds> until_due() const override;
  [[nodiscard]] std::vector<int> wake_fds() const override { return {}; }
  [[nodiscard]] RecordingHeader header() const override { return header_; }
  /// What the recorder knew when the recording began.
  [[nodiscard]] const std::optional<EngineState>& known() const { return reader_.known(); }

  /// Called once with a sentence when the recording ends, or breaks off with an error.
  void on_end(std::function<void(const std::string&)> callback) { on_end_ = std::move(callback); }

 private:
  PlaySource(RecordingReader reader, RecordingHeader header, double speed, const Clock& clock)
      : reader_(std::move(reader)), header_(std::move(header)), speed_(speed), clock_(&clock) {}
  void read_ahead();

  RecordingReader reader_;
  RecordingHeader header_;
  double speed_;
  const Clock* clock_;
  std::optional<Snapshot> next_;
  std::optional<SteadyTime> first_taken_at_;
  SteadyTime started_at_;
  bool ended_ = false;
  std::function<void(const std::string&)> on_end_ = [](const std::string&) {};
};

}  // namespace linkhealth
