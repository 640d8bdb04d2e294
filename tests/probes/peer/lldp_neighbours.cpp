// lldp_neighbours SOCKET PATIENCE_MS: what the LLDP client sees, one line a neighbour; or "error
// ERRNO MESSAGE".
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "probes/peer/peer_lldp.h"

namespace {

class RealClock final : public linkhealth::Clock {
 public:
  [[nodiscard]] linkhealth::SteadyTime steady() const override {
    return std::chrono::time_point_cast<linkhealth::Milliseconds>(std::chrono::steady_clock::now());
  }
  [[nodiscard]] linkhealth::WallTime wall() const override { return {}; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const RealClock clock;
  const auto client =
      linkhealth::make_lldpd_client(argv[1], linkhealth::Milliseconds(std::atoi(argv[2])), clock);
  const auto found = client->interfaces();
  if (!found) {
    fmt::print("error {} {}\n", found.error().errnum, found.error().message);
    return 0;
  }
  for (const auto& interface : *found) {
    fmt::print("device {}\n", interface.netdev);
    for (const auto& one : interface.neighbours) {
      const auto peer = linkhealth::peer_of_neighbour(one);
      fmt::print("neighbour {}|{}|{}|{}|{}|{}|{}\n", interface.netdev, one.protocol, peer.system,
                 peer.port, peer.description, peer.address, one.chassis_id);
    }
  }
  return 0;
}
