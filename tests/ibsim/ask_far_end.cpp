// ask_far_end DEVICE PORT: one round of the MAD probe on a real libibumad, printed as "name value"
// lines; with --own the port's own counters instead. For ibsim's preload library, and for a look at
// a real fabric.
#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "probes/peer/mad_client.h"
#include "probes/peer/mad_umad.h"
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

int print_own(const MadTiming& timing, const std::string& device, std::uint8_t port) {
  auto opened = open_umad_port(device, port);
  if (!opened) return fmt::print("gap {}\n", opened.error().message), 1;
  std::uint32_t transaction = 0;
  MadClient client(**opened, timing.timeout, transaction);
  const auto info = client.get_directed(MadAttribute::kPortInfo, 0, port);
  if (!info) return fmt::print("gap {}\n", info.error().message), 1;
  const std::uint16_t lid = decode_port_info(*info).lid;
  fmt::print("lid {}\n", lid);
  const auto offered = client.get_perf(MadAttribute::kPerfClassPortInfo, lid);
  if (!offered) return fmt::print("gap {}\n", offered.error().message), 1;
  const auto counters = get_counters(client, lid, port, decode_perf_capabilities(*offered));
  if (!counters) return fmt::print("gap {}\n", counters.error().message), 1;
  print(counters->counters);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = argc >= 3 ? parse_u64(argv[2]) : std::nullopt;
  if (!number || *number == 0 || *number > 254)
    return fmt::print("usage: ask_far_end DEVICE PORT [--own]\n"), 2;
  MadTiming timing;
  timing.first_within = Milliseconds{0};
  if (argc > 3) return print_own(timing, argv[1], static_cast<std::uint8_t>(*number));
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
