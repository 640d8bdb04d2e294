#include "daemon/metrics_pages.h"

namespace linkhealth {

void MetricsPages::render(const MetricsStep& step, MetricGroups groups) {
  collect_metrics(step.report, step.counts, step.monitor, groups, writer_);
}

std::string MetricsPages::text(const MetricsStep& step, MetricGroups groups) {
  const std::lock_guard lock(mutex_);
  render(step, groups);
  return writer_.take();
}

std::string MetricsPages::gzip(const MetricsStep& step, MetricGroups groups) {
  const std::lock_guard lock(mutex_);
  render(step, groups);
  gzip_.begin();
  writer_.take([this](std::string_view piece) { gzip_.add(piece); });
  return gzip_.end();
}

}  // namespace linkhealth
