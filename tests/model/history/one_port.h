// One port of mlx5 and its history.
#pragma once

#include <functional>

#include "model/history/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {

struct OnePort {
  History history;
  Feed feed;
  [[nodiscard]] const PortHistory& port() const { return *history.find("mlx5_0/1"); }
  [[nodiscard]] const CarrierHistory& carrier() const { return port().carrier; }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
  }
  /// One tick, with another sample than the feed's.
  void read(const std::function<void(PortSample&)>& change) {
    Snapshot snapshot = feed.tick();
    change(snapshot.ports["mlx5_0/1"]);
    history.observe(snapshot);
  }
};

}  // namespace linkhealth
