// A sampler that reads a node of two cards, without netlink and without modules, through the real
// probes and threads.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sampling/sampler.h"
#include "tests/daemon/sampling/merged_snapshot.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth::testing {

class SamplerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    first.device = "mlx5_0";
    second = {.device = "mlx5_1", .netdev = "ens2np0", .pci = "0000:1c:00.0", .ifindex = 3};
    shared->change([&](FakeHost& host) {
      add_nic(host, first);
      add_nic(host, second);
    });
  }
  void TearDown() override { shared->hang(""); }

  void start() {
    sampler = std::make_unique<Sampler>([this] { return std::make_unique<LockedHost>(shared); },
                                        nullptr, clock, settings, RecordingHeader{});
  }
  /// Polls until the worker has nothing left to do, and merges what came.
  Snapshot settle() {
    Snapshot all;
    for (;;) {
      add(sampler->poll(), all);
      if (sampler->settled()) break;
      wait();
    }
    add(sampler->poll(), all);
    return all;
  }
  void add(std::optional<Snapshot> snapshot, Snapshot& all) {
    if (!snapshot) return;
    merge_snapshot(*snapshot, all);
    merge_snapshot(*snapshot, ever);
    all.uptime_s = snapshot->uptime_s;
  }
  /// What sources give a reason for now: "mlx5_0/1 fec: EIO".
  [[nodiscard]] std::vector<std::string> gaps() const {
    std::vector<std::string> words;
    for (const Gap& gap : all_gaps(ever))
      words.push_back(gap.port + " " + gap.probe + ": " + gap.reason);
    return words;
  }
  void wait() const {
    std::vector<pollfd> wanted;
    for (const int fd : sampler->wake_fds()) wanted.push_back({fd, POLLIN, 0});
    ::poll(wanted.data(), wanted.size(), 1'000);
  }
  static std::size_t count(const Snapshot& snapshot, PortEventKind kind) {
    return static_cast<std::size_t>(
        std::count_if(snapshot.events.begin(), snapshot.events.end(),
                      [kind](const PortEvent& event) { return event.kind == kind; }));
  }

  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  ManualClock clock;
  SamplerSettings settings;
  Nic first, second;
  std::unique_ptr<Sampler> sampler;
  Snapshot ever;  ///< all that came since the start
};

}  // namespace linkhealth::testing
