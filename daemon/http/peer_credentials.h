// The other end of a connection. On a Unix socket: the process, as the kernel reports it (unix(7):
// SO_PEERCRED, SO_PEERGROUPS), and what it may do. On TCP: the address.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace linkhealth {

struct PeerCredentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  ///< the first is the primary one
};

/// As at the time of connect(2): the client cannot change them afterwards. Unreadable groups are
/// left out.
Result<PeerCredentials> peer_credentials(int socket);

/// True for root, the daemon's own user, and members of `control_group`. Pure.
bool may_act(const PeerCredentials& peer, uid_t daemon_uid, std::optional<gid_t> control_group);

/// "anna", or "uid 1234" if the user database has no name. May query a directory service: do not
/// call for each request.
std::string user_name(uid_t uid);
/// An error names the group that does not exist.
Result<gid_t> group_id(const std::string& name);

/// The network that counts as one client of a TCP connection: its IPv4 address, or the first 64
/// bits of its IPv6 address ("" on other sockets).
std::string peer_network(int socket);
/// Whether a TCP connection arrived at a loopback address.
bool is_on_loopback(int socket);

}  // namespace linkhealth
