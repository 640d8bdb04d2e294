// A node of two ports in memory, read by the real sampler, probes and threads.
#pragma once

#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sampling/sampler.h"
#include "tests/daemon/sampling/merged_snapshot.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth::testing {

/// Threads of this process.
inline long threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stol(line.substr(8));
  return -1;
}

class OddNode : public ::testing::Test {
 protected:
  void SetUp() override {
    settings.kernel_log = false;  // has tests of its own
    second = {.device = "mlx5_1", .netdev = "ens2np0", .pci = "0000:1c:00.0", .ifindex = 3};
    change([&](FakeHost& host) {
      add_nic(host, first);
      add_nic(host, second);
    });
  }
  void TearDown() override { shared->hang(""); }
  template <typename Change>
  void change(Change apply) {
    shared->change(apply);
  }
  void start() {
    sampler = std::make_unique<Sampler>([this] { return std::make_unique<LockedHost>(shared); },
                                        nullptr, clock, settings, RecordingHeader{});
  }
  void wait(int most_ms = 1'000) const {
    std::vector<pollfd> wanted;
    for (const int fd : sampler->wake_fds()) wanted.push_back({fd, POLLIN, 0});
    ::poll(wanted.data(), wanted.size(), most_ms);
  }
  void take(const std::optional<Snapshot>& snapshot) {
    if (!snapshot) return;
    for (Snapshot* into : {&all, &ever}) {
      testing::merge_snapshot(*snapshot, *into);
      std::erase_if(into->ports,
                    [&](const auto& entry) { return !snapshot->ports.contains(entry.first); });
    }
  }
  /// Polls until nothing is under way; `all` has what came since.
  void settle() {
    all = Snapshot{};
    // Until a poll begins nothing more: a read that is still out when the test moves the clock
    // would count as stuck.
    for (int quiet = 0; quiet < 2;) {
      take(sampler->poll());
      quiet = sampler->settled() ? quiet + 1 : 0;
      if (quiet == 0) wait();
    }
  }
  /// What sources give a reason for now.
  [[nodiscard]] std::vector<Gap> gaps() const { return all_gaps(ever); }
  bool has_gap(const PortKey& port, const std::string& probe, const std::string& part) const {
    return std::ranges::any_of(gaps(), [&](const Gap& gap) {
      return gap.port == port && gap.probe == probe && gap.reason.find(part) != std::string::npos;
    });
  }
  bool neighbour_is_whole() const {
    const auto at = all.ports.find("mlx5_1/1");
    if (at == all.ports.end()) return false;
    const PortSample& port = at->second;
    return port.link && port.link->carrier == true && port.pcie && port.counters &&
           port.counters->get("symbol_error") == 5U && port.counters->get("out_of_sequence") == 9U;
  }
  std::size_t count(PortEventKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(all.events.begin(), all.events.end(),
                      [kind](const PortEvent& event) { return event.kind == kind; }));
  }
  /// Goes on for a few link periods until there is such an event, and gives their number.
  std::size_t settle_until(PortEventKind kind) {
    for (int i = 0; i < 10; ++i) {
      settle();
      if (count(kind) > 0) return count(kind);
      clock.advance(settings.link_period);
    }
    return 0;
  }
  std::size_t open_dirs() {
    std::size_t open = 0;
    change([&](FakeHost& host) { open = host.open_dirs(); });
    return open;
  }

  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  ManualClock clock;
  SamplerSettings settings;
  Nic first, second;
  std::unique_ptr<Sampler> sampler;
  Snapshot all;   ///< what came since the test began to look
  Snapshot ever;  ///< and since the start
};

}  // namespace linkhealth::testing
