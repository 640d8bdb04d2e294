// What sources say of one port's far end, and a merge that takes it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "daemon/sampling/peer_merge.h"

namespace linkhealth::testing {

inline constexpr Milliseconds kHold{300'000};
inline const SteadyTime kStart{Milliseconds(1'000'000)};

inline PeerReading reading(const std::string& source, const std::string& system, SteadyTime at) {
  PeerReading said;
  said.port = "mlx5_0/1";
  said.read_at = at;
  said.answered = true;
  said.peer.emplace();
  said.peer->source = source;
  said.peer->system = system;
  if (!system.empty()) said.peer->port = "Ethernet17/1";
  return said;
}

inline PeerReading with_module(PeerReading said) {
  said.peer->module.emplace();
  said.peer->module->lanes.resize(1);
  said.peer->module->lanes[0].tx_power_mw = 1.1;
  return said;
}

inline PeerReading with_state(PeerReading said, bool admin_up) {
  said.peer->link.emplace();
  said.peer->link->admin_up = admin_up;
  said.peer->counters.emplace();
  said.peer->counters->set("symbol_error", 5000);
  return said;
}

inline PeerReading nothing() {
  PeerReading said;
  said.port = "mlx5_0/1";
  said.answered = true;
  return said;
}

inline PeerReading no_answer(const std::string& probe, const std::string& why) {
  PeerReading said;
  said.port = "mlx5_0/1";
  said.gaps.push_back({"mlx5_0/1", probe, why});
  return said;
}

class PeerMerging : public ::testing::Test {
 protected:
  PeerMerging() { merge.set_ports({"mlx5_0/1"}); }
  /// What is new of the one port; empty when nothing is.
  MergedPeer changes(SteadyTime now) {
    auto all = merge.take_changes(now);
    return all.contains("mlx5_0/1") ? all.at("mlx5_0/1") : MergedPeer{};
  }
  static std::map<PortKey, ExpectedPort> plan() {
    ExpectedPort planned;
    planned.peer_system = "leaf-plan";
    planned.peer_port = "Ethernet1/1";
    return {{"mlx5_0/1", planned}};
  }

  PeerMerge merge{kHold, {}};
};

}  // namespace linkhealth::testing
