#include "daemon/http/peer_credentials.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"

namespace linkhealth {

namespace {
constexpr std::size_t kMaxRecord_bytes = 65536;  // of a line of passwd or group with its members
constexpr std::size_t kMaxGroups = 65536;        // NGROUPS_MAX, linux/limits.h
}  // namespace

Result<PeerCredentials> peer_credentials(int socket) {
  ucred known{};
  socklen_t size = sizeof(known);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &known, &size) != 0)
    return errno_error("SO_PEERCRED", errno);
  PeerCredentials peer{known.uid, {known.gid}};
  std::vector<gid_t> more(64);
  for (;;) {
    size = static_cast<socklen_t>(more.size() * sizeof(gid_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, more.data(), &size) == 0) {
      peer.groups.insert(peer.groups.end(), more.begin(),
                         more.begin() + static_cast<std::ptrdiff_t>(size / sizeof(gid_t)));
      return peer;
    }
    if (errno != ERANGE || more.size() >= kMaxGroups) return peer;
    more.resize(std::max<std::size_t>(size / sizeof(gid_t), more.size() * 2));
  }
}

bool may_act(const PeerCredentials& peer, uid_t daemon_uid, std::optional<gid_t> control_group) {
  if (peer.uid == 0 || peer.uid == daemon_uid) return true;
  return control_group && std::ranges::find(peer.groups, *control_group) != peer.groups.end();
}

std::string user_name(uid_t uid) {
  std::string space(kMaxRecord_bytes, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, space.data(), space.size(), &found) == 0 && found != nullptr)
    return printable(found->pw_name);
  return fmt::format("uid {}", uid);
}

Result<gid_t> group_id(const std::string& name) {
  std::string space(kMaxRecord_bytes, '\0');
  group entry{};
  group* found = nullptr;
  const int failed = getgrnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
  if (found != nullptr) return found->gr_gid;
  return Error{fmt::format("there is no group \"{}\"", printable(name)), failed};
}

}  // namespace linkhealth
