// The far end of Ethernet ports as LLDP tells it (IEEE 802.1AB), through lldpd: the system's name,
// the port's name, where it is managed. What LLDP can't tell is a gap that says what to do.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "probes/host.h"
#include "probes/lldp_client.h"
#include "probes/peer_probe.h"

namespace linkhealth {

struct LldpTiming {
  Milliseconds period{30'000};
  /// A port that is up for longer and has no neighbour is a gap. LLDP is sent every 30 s (802.1AB
  /// msgTxInterval).
  Milliseconds settle{60'000};
};

/// Who a neighbour is, as a PeerSample without age. Names as people know them: the system's name,
/// else its chassis id; the port's id where it is a name, else its description.
PeerSample peer_of_neighbour(const LldpNeighbour& neighbour);
/// What keeps LLDP from the host with this driver, and the command that lets it through; "" where
/// nothing is known.
std::string lldp_driver_hint(std::string_view driver, const std::string& netdev,
                             const std::string& pci);
/// Why lldpd could not be asked, and what to do.
std::string lldp_failure(const Error& error, const std::string& socket_path);

/// The daemon's one LLDP probe, named "peer_lldp". `host` reads carrier.
std::unique_ptr<PeerProbe> make_lldp_probe(std::unique_ptr<LldpClient> client,
                                           std::string socket_path, std::unique_ptr<Host> host,
                                           LldpTiming timing);

}  // namespace linkhealth
