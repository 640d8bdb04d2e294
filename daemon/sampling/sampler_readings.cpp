// The part of the sampler that submits reads and accepts their results.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "daemon/sampling/sampler.h"
#include "model/kernel_log.h"
#include "probes/netlink/ethtool.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

// Node-wide reads, by the names of their gaps.
constexpr const char* kStatistics = "netdev_stats";
constexpr const char* kHealth = "devlink";

/// On an exempt port only its verbs counters and state are read.
bool is_read(const SampledPort& port) { return port.watched() || port.is_counted(); }

BlockingReadPool::Job node_job(const char* name, BlockingReadPool::Read read) {
  return {name, name, std::move(read)};
}

}  // namespace

void Sampler::add_job(std::vector<BlockingReadPool::Job>& jobs, const PortKey& key,
                      SampledPort& port, ReadGroup group) {
  std::string name(to_string(source_of(group)));
  if (!is_read(port) || pool_.is_out(key, name)) return;
  auto read = [this, key, group, reader = port.reader,
               &clock = clock_]() -> BlockingReadPool::Done {
    auto reading = std::make_shared<const Reading>(reader->read(group, clock.steady()));
    return [this, key, group, reader = reader.get(), reading](double duration_s) {
      add_duration(to_string(source_of(group)), duration_s);
      accept_reading(key, reader, group, *reading);
    };
  };
  jobs.push_back({key, std::move(name), std::move(read)});
}

/// Called after an event.
void Sampler::read_kernel_now(SampledPort& port) {
  if (!port.watched()) return;
  const PortKey key = port.port.id.key();
  if (pool_.is_out(key, std::string(to_string(source_of(ReadGroup::kKernel))))) {
    port.kernel_again = true;  // the reading may be from before the event
    return;
  }
  std::vector<BlockingReadPool::Job> jobs;
  add_job(jobs, key, port, ReadGroup::kKernel);
  pool_.submit(std::move(jobs));
}

void Sampler::submit_due() {
  if (!counters_due_.is_due(now_)) return;
  counters_due_.done(now_);
  const bool has_kernel = host_->has_kernel();
  std::vector<BlockingReadPool::Job> jobs;
  // Reads that need no lock come first, so that a module read, which holds RTNL, delays few.
  for (auto& [key, port] : ports_) add_job(jobs, key, port, ReadGroup::kDevice);
  if (has_kernel && !pool_.is_out(kStatistics, kStatistics))
    jobs.push_back(node_job(kStatistics, [this, host = statistics_host_] {
      return [this, statistics = read_netdev_stats(*host)](double duration_s) {
        add_duration(kStatistics, duration_s);
        accept_statistics(statistics);
      };
    }));
  for (auto& [key, port] : ports_) add_job(jobs, key, port, ReadGroup::kKernel);
  if (has_kernel && !pool_.is_out(kHealth, kHealth))
    jobs.push_back(node_job(kHealth, [this, host = health_host_, reporters = health_reporters_] {
      return [this, health = reporters->read(*host)](double duration_s) {
        add_duration(kHealth, duration_s);
        accept_health(health);
      };
    }));
  pool_.submit(std::move(jobs));
}

void Sampler::check_hung() {
  hung_ = pool_.check_hung();
  hung_device_.clear();
  for (const BlockingReadPool::Hung& read : hung_) {
    if (!discovery_.is_job(read.owner) || read.waiting) continue;
    const Discovery::Hang hang = discovery_.check_hang(read.owner);
    discover_ = discover_ || hang.abandoned_now;
    hung_device_ += (hung_device_.empty() ? "" : ", ") + printable(hang.device);
  }
  const auto busy = modules_ ? modules_->busy() : std::nullopt;
  const bool hangs = busy && now_ - busy->since >= settings_.read_patience;
  hung_module_ = hangs ? std::optional(busy->port) : std::nullopt;
}

void Sampler::accept_reading(const PortKey& key, const PortReader* reader, ReadGroup group,
                             const Reading& reading) {
  const auto at = ports_.find(key);
  if (at == ports_.end()) return;
  if (at->second.reader.get() != reader) {  // of a former device with this name
    counters_due_.at = now_;                // the new one was not read while this read was running
    return;
  }
  SampledPort& port = at->second;
  port.gone = port.gone || reading.gone;
  port.by_reader = reading.sources;
  PortSample& sample = next_.ports[key];
  if (reading.sample.counters) merge_counters(sample, *reading.sample.counters);
  if (!reading.sample.fec_lanes.empty()) sample.fec_lanes = reading.sample.fec_lanes;
  if (reading.sample.pcie) sample.pcie = reading.sample.pcie;
  if (group == ReadGroup::kKernel && reading.sample.link)
    accept_kernel_link(port, *reading.sample.link);
}

void Sampler::accept_kernel_link(SampledPort& port, const LinkSample& link) {
  port.kernel = link;
  port.publish = true;
  if (std::exchange(port.kernel_again, false)) {
    port.kernel.down_reason.reset();  // possibly from an earlier outage
    read_kernel_now(port);
    return;
  }
  // A cage that the driver reports as empty need not be read.
  const bool no_cable = link.down_reason && link.down_reason->state == kNoCable;
  if (std::exchange(port.no_cable, no_cable) != no_cable) publish_module_ports();
}

void Sampler::accept_statistics(const Result<std::map<std::uint32_t, Counters>>& statistics) {
  const bool failed = !statistics && statistics.error().errnum != EOPNOTSUPP;
  statistics_problem_ = failed ? reason_of(statistics.error()) : "";
  if (!statistics) return;
  for (auto& [key, port] : ports_) {
    const auto own = statistics->find(static_cast<std::uint32_t>(port.port.ifindex));
    if (own != statistics->end() && port.watched() && port.port.has_link_of_netdev())
      merge_counters(next_.ports[key], own->second);
  }
}

void Sampler::accept_health(const Result<std::vector<HealthReporter>>& reporters) {
  health_problems_.clear();
  if (!reporters && reporters.error().errnum != EOPNOTSUPP && reporters.error().errnum != ENOENT)
    health_problems_.emplace_back("", reason_of(reporters.error()));
  if (reporters)
    for (const HealthReporter& reporter : *reporters)
      if (reporter.diagnosis_error)
        health_problems_.emplace_back(reporter.pci(), "reporter " + reporter.name + ": " +
                                                          reason_of(*reporter.diagnosis_error));
  if (!reporters || reporters->empty()) return;
  for (auto& [key, port] : ports_)
    if (port.watched()) accept_health(port, *reporters);
}

void Sampler::accept_health(SampledPort& port, const std::vector<HealthReporter>& reporters) {
  const PortKey key = port.port.id.key();
  std::optional<Milliseconds> until_failed;
  for (const HealthReporter& reporter : reporters) {
    if (reporter.pci().empty() || reporter.pci() != port.port.id.pci) continue;
    Counters counters;
    const std::string prefix = "devlink_" + reporter.name;
    if (reporter.errors) counters.set(prefix + "_errors", *reporter.errors);
    if (reporter.recoveries) counters.set(prefix + "_recoveries", *reporter.recoveries);
    merge_counters(next_.ports[key], counters);
    // Drivers use the same texts for reporters and the kernel log.
    const KernelLogPattern* const pattern = classify_kernel_log(reporter.description);
    if (pattern != nullptr && pattern->what != KernelLogClass::kNoise)
      next_.events.push_back({now_, key, PortEventKind::kKernelLog,
                              "devlink health, " + reporter.name + ": " + reporter.description});
    const auto after = failed_after(port.port.id.driver, reporter.name);
    if (after && reporter.in_error == true)
      until_failed = std::min(until_failed.value_or(*after), *after);
  }
  if (!until_failed) {
    port.failed_since.reset();
    port.failure_reported = false;
    return;
  }
  if (!port.failed_since) port.failed_since = now_;
  if (now_ - *port.failed_since >= *until_failed && !std::exchange(port.failure_reported, true))
    next_.events.push_back({now_, key, PortEventKind::kDeviceFatal, "devlink health: error"});
}

}  // namespace linkhealth
