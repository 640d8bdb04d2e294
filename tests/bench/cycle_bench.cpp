// Where the time of a cycle goes, on a node with 10 and with 64 ports: judging, rendering, compressing.
#include <benchmark/benchmark.h>

#include "daemon/daemon.h"
#include "daemon/engine.h"
#include "daemon/publisher.h"

namespace linkhealth {
namespace {

/// A snapshot as the sampler gives it each period: link, counters and FEC of every port.
Snapshot snapshot_of(int ports, int step) {
  constexpr std::int64_t kStart_s = 1'760'000'000;
  Snapshot snapshot;
  snapshot.taken_at = SteadyTime(std::chrono::seconds(1000 + 10 * step));
  snapshot.wall_time = WallTime(std::chrono::seconds(kStart_s + 10 * step));
  for (int i = 0; i < ports; ++i) {
    PortSample sample;
    PortId& id = sample.id.edit();
    id.device = "mlx5_" + std::to_string(i);
    id.port = 1;
    id.netdev = "ens" + std::to_string(i) + "np0";
    id.pci = "0000:" + std::to_string(10 + i) + ":00.0";
    id.link_layer = "Ethernet";
    sample.link.emplace();
    sample.link->carrier = sample.link->admin_up = true;
    sample.link->speed_mbps = 400'000;
    sample.counters.emplace();
    std::uint64_t value = static_cast<std::uint64_t>(step) * 1000;
    for (const CounterInfo& row : known_counters())
      sample.counters->set(row.name, row.place == CounterPlace::kTraffic ? ++value * 1'000'000 : 3);
    snapshot.ports[sample.id->key()] = std::move(sample);
  }
  return snapshot;
}

Engine new_engine() { return Engine({{}, "bench", KnobTable(all_knob_groups())}); }

void judge(benchmark::State& state) {
  Engine engine = new_engine();
  int step = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Snapshot snapshot = snapshot_of(static_cast<int>(state.range(0)), ++step);
    state.ResumeTiming();
    benchmark::DoNotOptimize(engine.step(snapshot));
  }
}
BENCHMARK(judge)->Arg(10)->Arg(64);

std::shared_ptr<const Report> report_of(int ports) {
  Engine engine = new_engine();
  for (int step = 0; step < 20; ++step) (void)engine.step(snapshot_of(ports, step));
  return engine.step(snapshot_of(ports, 20)).report;
}

void render(benchmark::State& state) {
  const auto report = report_of(static_cast<int>(state.range(0)));
  const MonitorFigures monitor{"bench", 0.0};
  for (auto _ : state)
    benchmark::DoNotOptimize(metrics_text(*report, {}, monitor, {.counters = state.range(1) != 0, .optics = false}));
}
BENCHMARK(render)->ArgsProduct({{10, 64}, {0, 1}})->ArgNames({"ports", "counters"});

void compress(benchmark::State& state) {
  const std::string text = metrics_text(*report_of(static_cast<int>(state.range(0))), {}, {"bench", 0.0},
                                        {.counters = state.range(1) != 0, .optics = false});
  Gzip gzip;
  for (auto _ : state) benchmark::DoNotOptimize(gzip.compress(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(compress)->ArgsProduct({{10, 64}, {0, 1}})->ArgNames({"ports", "counters"});

}  // namespace
}  // namespace linkhealth
