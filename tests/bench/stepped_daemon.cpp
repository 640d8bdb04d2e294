// The daemon's own parts (Sampler, Engine, Publisher, Server), stepped by who scrapes: after each request that was
// answered one whole cycle (read every counter file, judge, publish, render), on the thread that answered, as
// linkhealthd makes it when a sample is due with each scrape (daemon/loop.h). So that a cycle can be compared with an
// exporter that reads when it is scraped.
//   bench_stepped_daemon PORT SYSROOT [--no-diagnosis]
// With --no-diagnosis the report is the snapshot alone: what an exporter does that judges nothing.
#include <poll.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <iostream>
#include <span>
#include <string>
#include <utility>

#include "daemon/daemon.h"
#include "daemon/engine.h"
#include "daemon/heap.h"
#include "daemon/publisher.h"
#include "daemon/sampler.h"
#include "daemon/server.h"
#include "exporters/json.h"
#include "probes/live_host.h"

namespace linkhealth {
namespace {

/// Time stands still between steps.
class SteppedClock : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime(Milliseconds(now_ms_)); }
  [[nodiscard]] WallTime wall() const override { return WallTime(Milliseconds(1'760'000'000'000 + now_ms_)); }
  void advance(Milliseconds by) { now_ms_ += by.count(); }

 private:
  std::atomic<Milliseconds::rep> now_ms_ = 1'000'000;
};

/// The latest sample of each port, unjudged. One report for all steps, as the values of an exporter stay where they
/// are: between two steps nobody else looks at it.
class LatestValues {
 public:
  std::shared_ptr<const Report> take(const Snapshot& snapshot) {
    report_->at = snapshot.wall_time;
    report_->t = snapshot.taken_at;
    for (const auto& [key, sample] : snapshot.ports) {
      PortReport& port = report_of(key);
      port.latest.id = sample.id;
      if (sample.link) port.latest.link = sample.link;
      if (sample.counters) {
        if (!port.latest.counters) port.latest.counters.emplace();
        port.latest.counters->merge(*sample.counters);
      }
    }
    return report_;
  }

 private:
  PortReport& report_of(const PortKey& key) {
    const auto [at, is_new] = places_.emplace(key, report_->ports.size());
    if (is_new) report_->ports.emplace_back().port = key;
    return report_->ports[at->second];
  }

  std::shared_ptr<Report> report_ = std::make_shared<Report>();
  std::map<PortKey, std::size_t> places_;
};

int run(std::span<char*> arguments) {
  if (arguments.size() < 3) return 2;
  const bool diagnosis = arguments.size() < 4 || std::strcmp(arguments[3], "--no-diagnosis") != 0;
  allow_many_open_files();
  SteppedClock clock;
  const std::string sysroot = arguments[2];
  SamplerSettings settings = sampler_settings(KnobTable(all_knob_groups()));
  settings.link_period = settings.counters_period = Milliseconds(1000);
  settings.read_threads = ReadWorker::Threads::kLent;
  settings.firmware_reads = 0;  // every counter file each time, as node_exporter does
  const auto batches = std::make_shared<BatchedReads>();
  Sampler sampler([&] { return std::make_unique<LiveHost>(sysroot, batches); }, nullptr, clock, settings, {});
  Engine engine({{}, "bench", KnobTable(all_knob_groups())});
  LatestValues latest;
  Publisher publisher({report_json, port_json, event_json_line, module_json});
  RecordingTap tap;
  ServerSettings where;
  where.thread = ServerSettings::Thread::kLent;
  where.listen = {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(arguments[1]))};
  auto server = Server::start(where, publisher, tap, clock);
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 1;
  }
  const auto take = [&](const std::optional<Snapshot>& snapshot) {
    if (!snapshot) return;
    const auto step = diagnosis ? engine.step(*snapshot) : Engine::Step{latest.take(*snapshot), {}, {}, {}};
    publisher.publish(step.report, step.events, {"bench", 0.0});
  };
  std::uint64_t searches = 0;
  const auto step = [&] {
    clock.advance(settings.counters_period);
    take(sampler.poll());
    while (sampler.wants_thread()) {  // as the daemon's loop: who is awake makes the reads (daemon/loop.cpp)
      sampler.work()();
      take(sampler.poll());
    }
    if (std::exchange(searches, sampler.searches()) != sampler.searches()) give_back_rare_code();  // as the daemon
  };
  step();
  const auto serve = (*server)->serving();
  for (pollfd asked{(*server)->wake_fd(), POLLIN, 0}; poll(&asked, 1, -1) > 0;)
    if (serve()) {
      sched_yield();  // as the daemon
      step();
    }
  return 1;
}

}  // namespace
}  // namespace linkhealth

int main(int count, char** arguments) {
  linkhealth::keep_memory_small();
  return linkhealth::run({arguments, static_cast<std::size_t>(count)});
}
