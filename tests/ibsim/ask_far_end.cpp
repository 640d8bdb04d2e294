// ask_far_end DEVICE PORT: one round of the MAD probe on a real libibumad, printed as "name value"
// lines. For ibsim's preload library, and for a real fabric.
#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "probes/peer/mad_port.h"
#include "probes/peer/peer_mad.h"

namespace {

using namespace linkhealth;

void print(const Counters& counters) {
  for (const auto& [id, value] : counters.known())
    fmt::print("counter {} {}\n", known_counters()[id].name, value);
  for (const auto& [name, value] : counters.other()) fmt::print("counter {} {}\n", name, value);
}

void print(const LinkSample& link) {
  fmt::print("state {}\nphys_state {}\nspeed_mbps {}\nlanes {}\nmtu_bytes {}\n", link.state,
             link.phys_state, link.speed_mbps.value_or(0), link.lanes.value_or(0),
             link.mtu_bytes.value_or(0));
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = argc >= 3 ? parse_u64(argv[2]) : std::nullopt;
  if (!number || *number == 0 || *number > 254)
    return fmt::print("usage: ask_far_end DEVICE PORT\n"), 2;
  MadTiming timing;
  timing.first_within = Milliseconds{0};
  InventoryPort port;
  port.id.device = argv[1];
  port.id.port = static_cast<std::uint32_t>(*number);
  port.id.link_layer = "InfiniBand";
  const auto probe = make_mad_probe(timing, &open_umad_port);
  for (const PeerReading& reading : probe->read({&port, 1}, SteadyTime())) {
    if (reading.peer) {
      fmt::print("source {}\nsystem {}\nport {}\nguid {}\n", reading.peer->source,
                 reading.peer->system, reading.peer->port, reading.peer->guid);
      if (reading.peer->link) print(*reading.peer->link);
      if (reading.peer->counters) print(*reading.peer->counters);
    }
    for (const Gap& gap : reading.gaps) fmt::print("gap {}\n", gap.reason);
  }
  return 0;
}
