// The part of the sampler that collects the state of each source from its reader.
#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "daemon/sampling/sampler.h"

namespace linkhealth {

namespace {

/// Lost events are reported for this long.
constexpr Milliseconds kLostReported{3'600'000};

void add_all(SourceReports& reports, const SourceReports& more) {
  for (const auto& [source, report] : more) add_report(reports, source, report);
}

void add_problem(SourceReports& reports, SourceId source, const std::string& reason,
                 bool some_read = false) {
  if (!reason.empty()) add_report(reports, source, problem_of(source, reason, some_read));
}

void add_gap(SourceReports& reports, SourceId source, const Gap& gap) {
  SourceReport report = problem_of(source, gap.reason, false);
  if (gap.hung) report.state = SourceState::kHung;
  add_report(reports, source, std::move(report));
}

bool is_known(const LinkSample& link) {
  return link.carrier || !link.state.empty() || !link.phys_state.empty();
}

std::string no_answer(Milliseconds patience) {
  return fmt::format("no answer within {:g} s", in_seconds(patience));
}

std::string reason_of(const BlockingReadPool::Hung& read, Milliseconds patience) {
  return read.waiting ? "not read: too many other reads hang" : no_answer(patience);
}

}  // namespace

void Sampler::add_hung(const PortKey& key, SourceReports& reports) const {
  for (const BlockingReadPool::Hung& read : hung_)
    if (const auto source = find_source(read.name); source && read.owner == key)
      reports[*source] = {SourceState::kHung, reason_of(read, settings_.read_patience)};
  if (hung_module_ == key)
    reports[SourceId::kModule] = {SourceState::kHung, no_answer(settings_.read_patience)};
}

SourceReports Sampler::reports_of(const PortKey& key, const SampledPort& port) const {
  SourceReports reports = port.by_reader;
  if (port.watched()) add_problem(reports, SourceId::kLink, port.link_problem);
  // The link comes from the files and the reader together.
  if (const auto link = reports.find(SourceId::kLink); link != reports.end())
    link->second.state = is_known(port.link()) ? SourceState::kOk : SourceState::kFailing;
  add_all(reports, port.by_discovery);
  add_all(reports, port.by_far_ends);
  if (port.by_module_reader) add_report(reports, SourceId::kModule, *port.by_module_reader);
  if (modules_left_.contains(key))
    reports[SourceId::kModule] = {SourceState::kFailing, std::string(kModuleLeft)};
  add_problem(reports, SourceId::kImport, std::string(port.import_refused));
  for (const Feed& feed : feeds_)
    for (const Gap& gap : feed.feed->gaps())
      if (const auto source = find_source(gap.probe); source && gap.port == key)
        add_gap(reports, *source, gap);
  const bool has_statistics = port.watched() && port.port.has_link_of_netdev();
  if (has_statistics) add_problem(reports, SourceId::kNetdevStats, statistics_problem_);
  for (const auto& [pci, problem] : health_problems_)
    if (port.watched() && (pci.empty() || pci == port.port.id.pci))
      add_problem(reports, SourceId::kDevlink, problem, !pci.empty());
  for (const BlockingReadPool::Hung& read : hung_)
    if (const auto source = find_source(read.owner); source && has_statistics)
      reports[*source] = {SourceState::kHung, reason_of(read, settings_.read_patience)};
  add_hung(key, reports);
  return reports;
}

SourceReports Sampler::node_reports() const {
  SourceReports reports = by_discovery_;
  for (const Feed& feed : feeds_) {
    for (const Gap& gap : feed.feed->gaps())
      if (const auto source = find_source(gap.probe); source && gap.port.empty())
        add_gap(reports, *source, gap);
    const auto source = find_source(feed.feed->name());
    if (source && !feed.lost.empty() && now_ - feed.lost_at < kLostReported)
      add_problem(reports, *source, feed.lost, true);
  }
  if (far_ends_) add_all(reports, far_ends_->reports());
  for (const BlockingReadPool::Hung& read : hung_) {
    if (!discovery_.is_job(read.owner)) continue;
    std::string reason = reason_of(read, settings_.read_patience);
    if (!read.waiting && !hung_device_.empty()) reason += " of " + hung_device_;
    reports[SourceId::kInventory] = {SourceState::kHung, std::move(reason)};
  }
  return reports;
}

void Sampler::publish_sources() {
  for (auto& [key, port] : ports_) {
    if (!port.sources.update(reports_of(key, port), now_)) continue;
    next_.ports[key].sources = port.sources.sources();
    has_news_ = true;
  }
  if (!sources_.update(node_reports(), now_)) return;
  next_.sources = sources_.sources();
  has_news_ = true;
}

}  // namespace linkhealth
