// A recording played as if it happened now: the same engine, metrics and API, without hardware.
// While paused, and after its end, the last state of the links is repeated each second, and time
// advances by a millisecond only, so that acknowledgements and maintenance are still reported.
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
  /// `speed`: recording time per second. The snapshots keep their recorded times.
  static Result<PlaySource> open(const std::string& path, double speed, const Clock& clock);

  std::optional<Snapshot> poll() override;
  [[nodiscard]] std::optional<Milliseconds> until_due() const override;
  [[nodiscard]] std::vector<int> wake_fds() const override {
    return control_fd_ < 0 ? std::vector<int>{} : std::vector<int>{control_fd_};
  }
  [[nodiscard]] RecordingHeader header() const override { return header_; }
  /// The recorder's state when the recording began.
  [[nodiscard]] const std::optional<EngineState>& known() const { return reader_.known(); }

  /// The reading end of a pipe: "h" pauses the recording, "r" resumes it.
  void control(int fd) { control_fd_ = fd; }
  /// Called once, with a sentence, when the recording ends or breaks off with an error.
  void on_end(std::function<void(const std::string&)> callback) { on_end_ = std::move(callback); }

 private:
  PlaySource(RecordingReader reader, RecordingHeader header, double speed, const Clock& clock)
      : reader_(std::move(reader)), header_(std::move(header)), speed_(speed), clock_(&clock) {}
  void read_ahead();
  void read_control();
  [[nodiscard]] bool stands_still() const { return ended_ || held_since_.has_value(); }
  std::optional<Snapshot> repeat();

  RecordingReader reader_;
  RecordingHeader header_;
  double speed_;
  const Clock* clock_;
  std::optional<Snapshot> next_;
  std::optional<SteadyTime> first_taken_at_;
  SteadyTime started_at_;
  bool ended_ = false;
  int control_fd_ = -1;
  std::optional<SteadyTime> held_since_;
  std::optional<Snapshot> last_;  ///< last one returned, reduced to the links
  SteadyTime given_at_;
  std::function<void(const std::string&)> on_end_ = [](const std::string&) {};
};

}  // namespace linkhealth
