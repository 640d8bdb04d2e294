// The metrics of a step as bytes.
#pragma once

#include <mutex>
#include <string>

#include "daemon/gzip.h"
#include "exporters/metrics.h"
#include "exporters/metrics_writer.h"

namespace linkhealth {

/// What /metrics says of one step.
struct MetricsStep {
  const Report& report;
  const FaultEventCounts& counts;
  const MonitorFigures& monitor;
};

/// Renders and compresses in rooms that are kept: nothing but the bytes that somebody waits for is
/// taken from the heap, and the text of what is asked for compressed is never there as a whole. All
/// methods may be called from any thread.
class MetricsPages {
 public:
  [[nodiscard]] std::string text(const MetricsStep& step, MetricGroups groups);
  /// As a gzip member.
  [[nodiscard]] std::string gzip(const MetricsStep& step, MetricGroups groups);

 private:
  /// Into writer_. REQUIRES: mutex_ is held.
  void render(const MetricsStep& step, MetricGroups groups);

  std::mutex mutex_;
  MetricsWriter writer_;
  Gzip gzip_;
};

}  // namespace linkhealth
