// The other end of a connection. Of a Unix socket the process, as the kernel reports it (unix(7):
// SO_PEERCRED, SO_PEERGROUPS), and what it may do; of TCP the address.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace linkhealth {

struct PeerCredentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  ///< the first is the main one
};

/// As they were at connect(2): the client can't change them afterwards. Groups that can't be read
/// are left out.
Result<PeerCredentials> peer_credentials(int socket);

/// Root, the daemon's own user, and members of `control_group`. Pure.
bool may_act(const PeerCredentials& peer, uid_t daemon_uid, std::optional<gid_t> control_group);

/// "anna", or "uid 1234" where the user database has no name. May query a directory service: not
/// for each request.
std::string user_name(uid_t uid);
/// An error names the group that does not exist.
Result<gid_t> group_id(const std::string& name);

/// What one client of a TCP connection can have for itself: its IPv4 address, or the first 64 bits
/// of its IPv6 address ("" on other sockets).
std::string peer_network(int socket);
/// Whether a TCP connection came to an address that only this node has.
bool is_on_loopback(int socket);

}  // namespace linkhealth
