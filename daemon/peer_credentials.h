// Who is at the other end of a Unix socket, by the kernel's word (unix(7): SO_PEERCRED,
// SO_PEERGROUPS), and what he may do.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/api.h"

namespace linkhealth {

struct PeerCredentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  ///< the first is the main one
};

/// As they were at connect(2); the client can't change them afterwards. Groups that can't be had
/// are none.
Result<PeerCredentials> peer_credentials(int socket);

/// Root, the daemon's own user, and who is in `control_group`. Pure.
bool may_act(const PeerCredentials& peer, uid_t daemon_uid, std::optional<gid_t> control_group);

/// "anna", or "uid 1234" where the system's user database has no name. May ask a directory service:
/// not for each request.
std::string user_name(uid_t uid);
/// An error names the group that is not there.
Result<gid_t> group_id(const std::string& name);

}  // namespace linkhealth
