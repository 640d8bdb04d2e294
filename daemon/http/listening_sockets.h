// Listening sockets on TCP and on the file system.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "config/config.h"

namespace linkhealth {

/// An error names the address and the reason.
Result<OwnedFd> listen_tcp(const ListenAddress& address);
/// The TCP port that `fd` is bound to.
Result<int> bound_port(const OwnedFd& fd);

struct UnixSocketSettings {
  std::string path;
  unsigned mode = 0660;
  std::string group;  ///< owner of the socket; "": the process's group
};
/// Replaces a socket file on which no process listens; a running daemon, or another kind of file,
/// is an error.
Result<OwnedFd> listen_unix(const UnixSocketSettings& settings);

}  // namespace linkhealth
