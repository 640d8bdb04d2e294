// Series as Prometheus text, byte for byte as prometheus-cpp's TextSerializer writes them (a test compares the two for
// random reports), without an allocation for a series: the library takes 3 µs and several allocations for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/metrics.h"

namespace linkhealth {

class MetricsWriter : public SeriesSink {
 public:
  MetricsWriter();
  /// Of two series with the same labels the first stays: Prometheus would refuse both, and the whole scrape with them.
  void add(std::size_t row, std::span<const std::string_view> labels, double value) override;
  /// Families in the order of the table; those without a series are left out.
  std::string take();

 private:
  /// One metric: its lines, and where each begins by the hash of what comes before its value.
  struct Family {
    std::string lines;
    struct Slot {
      std::uint32_t begin = 0;  ///< where the line begins, plus 1; 0: free
      std::uint32_t hash = 0;
    };
    std::vector<Slot> slots;  ///< open addressing; a power of two
    std::size_t series = 0;

    /// Whether the line that begins at `begin` repeats an earlier one; remembers it otherwise.
    bool repeats(std::size_t begin);
    void grow();
  };
  std::vector<Family> families_;
};

/// A value as the library prints it: %.16g, "+Inf", "-Inf", "Nan".
void append_value(std::string& text, double value);

}  // namespace linkhealth
