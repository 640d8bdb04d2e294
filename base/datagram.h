// One datagram to a Unix socket: how systemd's service manager and its journal are told things.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace linkhealth {

/// `path`: of the socket; with '@' in front an abstract one. Never waits: EAGAIN when the other
/// side is full.
Result<void> send_datagram(const std::string& path, std::string_view bytes);

}  // namespace linkhealth
