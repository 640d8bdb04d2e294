// How long the decision of one tick takes, and a day of a node. Goals: 64 ports in under 2 ms; a day of 10 ports at 10
// s (8,640 ticks) in under 5 s together with reading the recording (bench_recording).
#include <benchmark/benchmark.h>

#include "daemon/engine.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

/// Snapshots of `ports` healthy ports as a busy node gives them: link and counters each time, the module once a minute.
class Node {
 public:
  explicit Node(int ports) : feeds_(static_cast<std::size_t>(ports)) {
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      feeds_[i].key = "mlx5_" + std::to_string(i) + "/1";
      feeds_[i].module.serial = "S" + std::to_string(i);
      for (const char* name : {"port_xmit_wait", "out_of_buffer", "packet_seq_err", "local_ack_timeout_err",
                               "np_cnp_sent", "rp_cnp_handled", "link_downed", "symbol_error", "port_rcv_errors"})
        feeds_[i].counters.set(name, i);
    }
  }
  Snapshot tick() {
    Snapshot all;
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      feeds_[i].add("port_rcv_data", 10'000'000'000);
      feeds_[i].add("port_xmit_data", 10'000'000'000);
      Snapshot one = feeds_[i].tick();
      PortSample& port = one.ports.begin()->second;
      port.id.edit().pci = "0000:" + std::to_string(10 + i) + ":00.0";
      if (count_ % 6 != 0) port.module.reset();
      all.taken_at = one.taken_at;
      all.wall_time = one.wall_time;
      all.uptime_s = one.uptime_s;
      all.ports.insert(one.ports.begin(), one.ports.end());
    }
    ++count_;
    return all;
  }

 private:
  std::vector<Feed> feeds_;
  std::size_t count_ = 0;
};

Engine engine() {
  EngineSettings settings;
  settings.node = "node";
  settings.knobs = KnobTable(engine_knob_groups());
  return Engine(std::move(settings));
}

void decide_a_tick(benchmark::State& state) {
  Node node(static_cast<int>(state.range(0)));
  Engine engine = linkhealth::engine();
  for (int i = 0; i < 400; ++i) engine.step(node.tick());  // an hour of history
  for (auto _ : state) {
    state.PauseTiming();
    const Snapshot snapshot = node.tick();
    state.ResumeTiming();
    benchmark::DoNotOptimize(engine.step(snapshot));
  }
}
BENCHMARK(decide_a_tick)->Arg(10)->Arg(64)->Unit(benchmark::kMillisecond);

void decide_a_day_of_ten_ports(benchmark::State& state) {
  for (auto _ : state) {
    Node node(10);
    Engine engine = linkhealth::engine();
    for (int i = 0; i < 8640; ++i) benchmark::DoNotOptimize(engine.step(node.tick()));
  }
}
BENCHMARK(decide_a_day_of_ten_ports)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace linkhealth
