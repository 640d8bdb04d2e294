// Series as Prometheus text, format 0.0.4, byte for byte as prometheus-cpp's TextSerializer writes
// them (a test compares the two for random reports), without an allocation for a series: the
// library takes 3 µs and several allocations for each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/metrics.h"

namespace linkhealth {

class MetricsWriter : public SeriesSink {
 public:
  MetricsWriter();
  /// Of two series with the same labels the first stays: Prometheus would refuse both, and the
  /// whole scrape with them.
  void add(std::size_t row, std::span<const std::string_view> labels, double value) override;
  /// Gives the text to `out` in pieces: families in the order of the table; those without a series
  /// are left out. The next series begins a new text, in the room of this one: what is written each
  /// second is no work for the heap.
  template <typename Out>
  void take(Out out);
  /// The same as a whole.
  std::string take();

 private:
  /// Labels that many series in a row have in common, the device and the port: they are written and
  /// hashed once. Where a metric has no others, its series have little in common.
  static constexpr std::size_t kHeadLabels = 2;

  /// One metric: its lines, and where each begins by the hash of what comes before its value.
  struct Family {
    /// Begins with what stands above the lines, and the lines; behind them, up to `last_used`,
    /// those of the text before. Not a string: what it is larger than the text was never written,
    /// and so is no memory of the process.
    std::unique_ptr<char[]> room;
    std::size_t room_size = 0;
    std::size_t header_size = 0;  ///< of "# HELP …" and "# TYPE …"; 0: there never was a series
    std::size_t used = 0;
    std::size_t last_used =
        0;  ///< more than `used` while every line was the same as in the text before
    /// A line of the room.
    struct Line {
      double value = 0;
      std::uint32_t end = 0;     ///< where its '\n' stands
      std::uint32_t digits = 0;  ///< so many characters of it are the value
    };
    std::vector<Line> room_lines;  ///< all that the room holds
    std::size_t count = 0;         ///< so many of them end before `used`
    bool plain = true;  ///< no label ever had to be written in another way than it was read
    struct Slot {
      std::uint32_t begin = 0;  ///< where the line begins, plus 1; 0: free
      std::uint32_t hash = 0;
    };
    std::vector<Slot> slots;  ///< open addressing; a power of two
    std::size_t series = 0;
    std::string head;  ///< of the latest line: `name{device="mlx5_0",port="1`; "" for a metric
                       ///< without other labels
    std::uint64_t head_hash = 0;
    std::array<std::string, kHeadLabels> head_labels;  ///< as they were read

    [[nodiscard]] std::string_view text() const { return {room.get(), used}; }
    /// Before the first series there ever is.
    void begin(const MetricInfo& info);
    [[nodiscard]] bool has_head(std::span<const std::string_view> labels) const;
    /// The head, the labels that it does not have, each after its own head, and the value; unless
    /// such a series is there already.
    void add_line(std::span<const std::string> heads, std::span<const std::string_view> labels,
                  double value);
    /// Whether the text before has this line at the same place, with as many digits: then only they
    /// are written. Most series come again at the next scrape, in the same order, and are in
    /// `slots` already. `labels` as they were read.
    bool write_over(std::span<const std::string> heads, std::span<const std::string_view> labels,
                    double value);
    /// The lines of the text before that did not come again are no longer known.
    void forget_rest();
    /// Whether an earlier line has this key; remembers it otherwise, as that of the line that
    /// begins at `used`.
    bool repeats(std::string_view key, std::uint64_t hash);
    void grow();
    void make_room(std::size_t size);
    /// The slots of lines that begin before `end`, in `slot_count` new ones.
    void reinsert(std::size_t slot_count, std::size_t end);
    /// Begins a new text in the same room.
    void clear();
  };
  /// With escapes where they need some; valid until the next call.
  std::span<const std::string_view> as_written(std::span<const std::string_view> labels,
                                               Family& family);

  std::vector<Family> families_;
  std::vector<bool>
      shown_;  ///< by family: it has a series in this text; most have none, and are not looked at
  std::vector<std::string> escaped_;
  std::vector<std::string_view> views_;  ///< of escaped_
};

template <typename Out>
void MetricsWriter::take(Out out) {
  for (std::size_t row = 0; row < families_.size(); ++row) {
    if (!shown_[row]) continue;
    out(families_[row].text());
    families_[row].clear();
    shown_[row] = false;
  }
}

}  // namespace linkhealth
