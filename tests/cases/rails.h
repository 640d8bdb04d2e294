// A node of InfiniBand rails that fall together or apart.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cases/cases.h"
#include "tests/daemon/engine/node_story.h"

namespace linkhealth::cases {

using Fell = std::set<std::size_t>;

/// InfiniBand ports without readable modules, as most nodes have them.
struct Rails : Node {
  explicit Rails(std::size_t ports, double period_s = 10) : Node(ports) {
    feed.be_infiniband();
    feed.period_s = period_s;
    feed.module_readable = false;
    feed.link.fec.clear();
    change = [this](std::size_t i, PortSample& port) {
      port.id.netdev = "ib" + std::to_string(i);
      port.id.board_id = "MT_0000000838";
      port.id.guid = "b83f:d203:0012:" + std::to_string(1000 + 16 * i);
      port.id.sys_image_guid = port.id.guid;
      if (fallen.contains(i)) {
        port.link->carrier = false;
        port.link->state = "DOWN";
        port.link->phys_state = "Polling";
        port.link->down_reason = reason;
      }
      if (!leaf.empty()) {
        port.peer = PeerSample{};
        port.peer->source = "mad";
        port.peer->age_s = 1;
        port.peer->system = leaf[i % leaf.size()];
        port.peer->port = std::to_string(i + 1);
      }
      if (more) more(i, port);
    };
  }
  void fall(Fell ports, double for_s = 900) {
    fallen = std::move(ports);
    run(for_s);
  }
  [[nodiscard]] const FaultReport& fault(const std::string& key) const {
    static const FaultReport kNone;
    const PortReport* at = port(key);
    return at == nullptr || at->faults.empty() ? kNone : at->faults.front();
  }
  [[nodiscard]] std::size_t opened() const {
    return static_cast<std::size_t>(
        std::ranges::count(events, FaultEventKind::kOpened, &FaultEvent::kind));
  }

  Fell fallen;
  std::vector<std::string> leaf;  ///< of port i: the i-th, again and again; empty: not known
  std::optional<DownReason> reason;
  std::function<void(std::size_t, PortSample&)> more;
};

inline std::string all_text(const FaultReport& fault) {
  std::string text = fault.summary;
  for (const std::string& step : fault.repair) text += "\n" + step;
  for (const Evidence& one : fault.evidence) text += "\n" + one.text;
  return text;
}

}  // namespace linkhealth::cases
