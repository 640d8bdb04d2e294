// Captured kernel messages for the netlink tests, and ways to damage them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "probes/host.h"
#include "probes/netlink/netlink_message.h"

namespace linkhealth::testing {

/// A message of netlink_capture.txt. Fails the test and gives no bytes when there is none of that
/// name.
Bytes captured(const std::string& name);

/// "0a0b" → two bytes.
Bytes from_hex(std::string_view hex);

/// `message` cut to `size` bytes.
Bytes cut(const Bytes& message, std::size_t size);

/// The first request that `read` sends.
Bytes request_of(const std::function<void(Host&)>& read);

/// Expects an Error with EBADMSG from `parse` for `message` cut at every length.
void expect_error_at_every_length(const Bytes& message,
                                  const std::function<int(ByteView)>& errnum_of_parse);

}  // namespace linkhealth::testing
