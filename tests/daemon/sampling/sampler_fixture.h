// A sampler that reads a node of two cards in memory through the real probes and threads.
#pragma once

#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sampling/sampler.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth::testing {

/// The latest of each group of each port and of the sources, and all events, as a report has them.
inline void merge_snapshot(const Snapshot& snapshot, Snapshot& all) {
  for (const auto& [key, sample] : snapshot.ports) {
    PortSample& port = all.ports[key];
    port.id = sample.id;
    if (sample.link) port.link = sample.link;
    if (sample.pcie) port.pcie = sample.pcie;
    if (sample.module) port.module = sample.module;
    if (sample.peer) port.peer = sample.peer;
    if (sample.sources) port.sources = sample.sources;
    if (!sample.counters) continue;
    if (!port.counters) port.counters.emplace();
    port.counters->merge(*sample.counters);
  }
  std::erase_if(all.ports, [&](const auto& port) { return !snapshot.ports.contains(port.first); });
  all.events.insert(all.events.end(), snapshot.events.begin(), snapshot.events.end());
  if (snapshot.sources) all.sources = snapshot.sources;
  all.uptime_s = snapshot.uptime_s;
}

class SamplerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    second = {.device = "mlx5_1", .netdev = "ens2np0", .pci = "0000:1c:00.0", .ifindex = 3};
    change([&](FakeHost& host) {
      add_nic(host, first);
      if (has_second) add_nic(host, second);
    });
  }
  void TearDown() override { shared->hang(""); }

  template <typename Change>
  void change(Change apply) {
    shared->change(apply);
  }
  void set(const std::string& path, const std::string& text) {
    change([&](FakeHost& host) { host.set(path, text + "\n"); });
  }
  void set_verbs_state(const char* state, const char* phys_state) {
    set(first.port_dir() + "/state", state);
    set(first.port_dir() + "/phys_state", phys_state);
  }
  void remove_card(const Nic& nic) {
    change([&](FakeHost& host) {
      host.remove(nic.pci_dir());
      host.remove("/sys/class/net/" + nic.netdev);
      host.remove("/sys/class/infiniband/" + nic.device);
    });
  }
  void start(std::unique_ptr<ModuleReader> modules = nullptr,
             std::vector<std::unique_ptr<EventFeed>> feeds = {}) {
    sampler = std::make_unique<Sampler>([this] { return std::make_unique<LockedHost>(shared); },
                                        std::move(modules), clock, settings, RecordingHeader{},
                                        std::move(feeds));
  }
  /// Waits until a read has come back. Descriptor 0 belongs to a feed that a test feeds.
  void wait(int longest_ms = 1'000) const {
    std::vector<pollfd> wanted;
    for (const int fd : sampler->wake_fds())
      if (fd != 0) wanted.push_back({fd, POLLIN, 0});
    ::poll(wanted.data(), wanted.size(), longest_ms);
  }
  void poll() { take(sampler->poll()); }
  void take(const std::optional<Snapshot>& snapshot) {
    if (!snapshot) return;
    merge_snapshot(*snapshot, all);
    merge_snapshot(*snapshot, ever);
  }
  /// Polls until nothing is under way: a read that is out when a test moves the clock would count
  /// as hung. `all` has what came since.
  const Snapshot& settle() {
    all = Snapshot{};
    for (int quiet = 0; quiet < 2;) {
      poll();
      quiet = sampler->settled() ? quiet + 1 : 0;
      if (quiet == 0) wait();
    }
    return all;
  }
  const Snapshot& settle_after(Milliseconds time) {
    clock.advance(time);
    return settle();
  }
  /// What sources give a reason for now: "mlx5_0/1 fec: EIO"; of the node: " inventory: …".
  [[nodiscard]] std::vector<std::string> gaps() const {
    std::vector<std::string> words;
    const auto add = [&](const PortKey& port, const std::optional<SourceMap>& sources) {
      for (const Gap& gap : gaps_of(port, sources.value_or(SourceMap())))
        words.push_back(gap.port + " " + gap.probe + ": " + gap.reason);
    };
    add("", ever.sources);
    for (const auto& [key, port] : ever.ports) add(key, port.sources);
    return words;
  }
  [[nodiscard]] bool has_gap(const PortKey& port, const std::string& probe,
                             const std::string& part) const {
    return std::ranges::any_of(gaps(), [&](const std::string& gap) {
      return gap.starts_with(port + " " + probe + ": ") && gap.find(part) != std::string::npos;
    });
  }
  [[nodiscard]] std::size_t count(PortEventKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(all.events, kind, &PortEvent::kind));
  }
  /// Whether everything of the second card was read.
  [[nodiscard]] bool neighbour_is_whole() const {
    const auto at = all.ports.find("mlx5_1/1");
    if (at == all.ports.end()) return false;
    const PortSample& port = at->second;
    return port.link && port.link->carrier == true && port.pcie && port.counters &&
           port.counters->get("symbol_error") == 5U && port.counters->get("out_of_sequence") == 9U;
  }

  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  ManualClock clock;
  SamplerSettings settings = [] {
    SamplerSettings without_log;  // the kernel log has tests of its own
    without_log.kernel_log = false;
    return without_log;
  }();
  Nic first, second;
  bool has_second = true;
  std::unique_ptr<Sampler> sampler;
  Snapshot all;   ///< since settle() began
  Snapshot ever;  ///< since the start
};

}  // namespace linkhealth::testing
