#include "daemon/http/peer_credentials.h"

#include <fmt/format.h>
#include <grp.h>
#include <netinet/in.h>
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

/// The address of one end of a connection, from getsockname() or getpeername(): 4 bytes for IPv4
/// (also if mapped to IPv6), 16 for IPv6, otherwise none.
std::string address_bytes(int socket, int (*name_of)(int, sockaddr*, socklen_t*)) {
  constexpr std::size_t kMappedPrefix_bytes = 12;  // ::ffff:0:0/96, RFC 4291, 2.5.5.2
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  if (name_of(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return "";
  if (name.ss_family == AF_INET) {
    const in_addr& address = reinterpret_cast<const sockaddr_in&>(name).sin_addr;
    return {reinterpret_cast<const char*>(&address), sizeof(address)};
  }
  if (name.ss_family != AF_INET6) return "";
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(name).sin6_addr;
  const std::string bytes(reinterpret_cast<const char*>(&address), sizeof(address));
  return IN6_IS_ADDR_V4MAPPED(&address) ? bytes.substr(kMappedPrefix_bytes) : bytes;
}

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

std::string peer_network(int socket) { return address_bytes(socket, &getpeername).substr(0, 8); }

bool is_on_loopback(int socket) {
  constexpr char kLoopbackNet = 127;
  const std::string bytes = address_bytes(socket, &getsockname);
  if (bytes.size() == sizeof(in_addr)) return bytes.front() == kLoopbackNet;
  return bytes == std::string(sizeof(in6_addr) - 1, '\0') + '\1';
}

}  // namespace linkhealth
