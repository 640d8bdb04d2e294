#include "exporters/metrics/metric_families.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace linkhealth {

namespace {

/// The library writes labels unchanged, and one byte that is not UTF-8 makes Prometheus reject the
/// whole scrape (prometheus-cpp issue 473). Terminal escapes would reach the terminals of readers.
std::string label_value(std::string_view text) { return printable(text); }

}  // namespace

MetricFamilies::MetricFamilies() {
  for (const MetricInfo& row : metric_rows::kRows) {
    prometheus::MetricFamily& family = families_.emplace_back();
    family.name = row.name;
    family.help = row.help;
    family.type = row.type == MetricType::kCounter ? prometheus::MetricType::Counter
                                                   : prometheus::MetricType::Gauge;
  }
}

void MetricFamilies::add(Metric metric, const std::vector<std::string_view>& labels, double value) {
  const MetricInfo& row = metric_rows::kRows.at(metric.row());
  prometheus::ClientMetric series;
  auto label = labels.begin();
  if (!row.labels.empty())
    for (const std::string_view name : split(row.labels, ','))
      series.label.push_back({std::string(name), label_value(*label++)});
  (row.type == MetricType::kCounter ? series.counter.value : series.gauge.value) = value;
  families_[metric.row()].metric.push_back(std::move(series));
}

PortSeries::PortSeries(MetricFamilies& out, const PortKey& key) : out_(out) {
  const auto slash = key.rfind('/');
  device_ = key.substr(0, slash);
  if (!key.empty()) port_ = slash == std::string::npos ? "1" : key.substr(slash + 1);
}

std::string MetricFamilies::text() && {
  for (prometheus::MetricFamily& family : families_) {
    std::set<std::vector<prometheus::ClientMetric::Label>> seen;
    std::erase_if(family.metric,
                  [&](const auto& series) { return !seen.insert(series.label).second; });
  }
  std::erase_if(families_, [](const auto& family) { return family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(families_);
}

}  // namespace linkhealth
