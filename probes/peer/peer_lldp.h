// The far end of Ethernet ports by LLDP (IEEE 802.1AB), read from lldpd: the system's name, the
// port's name, its management address. If there is no LLDP neighbour, a gap names the remedy.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "probes/host.h"
#include "probes/peer/lldp_client.h"
#include "probes/peer/peer_probe.h"

namespace linkhealth {

struct LldpTiming {
  Milliseconds period{30'000};
  /// A port that is up for longer than this without a neighbour is a gap. LLDP is sent every 30 s
  /// (802.1AB msgTxInterval).
  Milliseconds settle{60'000};
};

/// A neighbour as a PeerSample without age. Uses the familiar names: the system's name, else its
/// chassis id; the port's id if it is a name, else its description.
PeerSample peer_of_neighbour(const LldpNeighbour& neighbour);
/// The command that makes this driver pass LLDP to the host; "" if none is known.
std::string lldp_driver_hint(std::string_view driver, const std::string& netdev,
                             const std::string& pci);
/// Why lldpd could not be read, and the remedy.
std::string lldp_failure(const Error& error, const std::string& socket_path);

/// The LLDP probe, named "peer_lldp". `host` reads operstate.
std::unique_ptr<PeerProbe> make_lldp_probe(std::unique_ptr<LldpClient> client,
                                           std::string socket_path, std::unique_ptr<Host> host,
                                           LldpTiming timing);

}  // namespace linkhealth
