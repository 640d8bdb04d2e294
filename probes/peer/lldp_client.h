// The neighbours of all ports from lldpd, through its control library over its Unix socket. The
// only user of lldpctl.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace linkhealth {

/// A remote system (IEEE 802.1AB) known to lldpd, which drops it when its time to live ends.
struct LldpNeighbour {
  std::string protocol;  ///< "LLDP"; or "CDPv2" and others if lldpd is configured to accept them
  std::string chassis_name;        ///< system name; "" if not sent
  std::string chassis_id;          ///< usually a MAC address
  std::string port_id;             ///< "Ethernet17/1", or a MAC address, or a number
  std::string port_id_subtype;     ///< lldpd's term: "ifname", "mac", "local", "ifalias", "ip", …
  std::string port_description;    ///< "" if not sent
  std::string management_address;  ///< the first; "" if not sent
  bool operator==(const LldpNeighbour&) const = default;
};

/// One network device that lldpd watches.
struct LldpInterface {
  std::string netdev;
  std::vector<LldpNeighbour> neighbours;
};

class LldpClient {
 public:
  virtual ~LldpClient() = default;
  /// Every device that lldpd watches. Errors by errnum: ENOENT no socket, ECONNREFUSED no process
  /// listens, EACCES not allowed, ETIMEDOUT no answer in time, EPROTO a malformed answer.
  virtual Result<std::vector<LldpInterface>> interfaces() = 0;
};

/// lldpd's own socket: /run/lldpd.socket on Debian.
inline constexpr const char* kLldpdSocket = "/run/lldpd.socket";

/// Opens one connection per request. A request takes at most `patience` by `clock`, and so does
/// each single wait.
std::unique_ptr<LldpClient> make_lldpd_client(std::string socket_path, Milliseconds patience,
                                              const Clock& clock);

}  // namespace linkhealth
