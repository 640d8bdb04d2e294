#include "tests/probes/netlink/netlink_fixtures.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "tests/support/fake_host.h"

namespace linkhealth::testing {
namespace {

std::map<std::string, Bytes> load() {
  std::map<std::string, Bytes> messages;
  std::ifstream file(std::string(LINKHEALTH_SOURCE_DIR) +
                     "/tests/probes/netlink/netlink_capture.txt");
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    if (line.empty() || line.front() == '#' || space == std::string::npos) continue;
    messages[line.substr(0, space)] = from_hex(std::string_view(line).substr(space + 1));
  }
  return messages;
}

}  // namespace

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

Bytes captured(const std::string& name) {
  const auto messages = load();
  const auto found = messages.find(name);
  EXPECT_NE(found, messages.end()) << "no captured message " << name;
  return found == messages.end() ? Bytes() : found->second;
}

Bytes cut(const Bytes& message, std::size_t size) {
  // A copy of its own, so that the address sanitizer sees a read behind its end.
  return {message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size)};
}

Bytes request_of(const std::function<void(Host&)>& read) {
  FakeHost host;
  Bytes sent;
  host.set_responder([&](int, ByteView request) -> Result<std::vector<Bytes>> {
    if (sent.empty()) sent.assign(request.begin(), request.end());
    return Error{"only the request counts", EIO};
  });
  read(host);
  return sent;
}

void expect_error_at_every_length(const Bytes& message,
                                  const std::function<int(ByteView)>& errnum_of_parse) {
  ASSERT_FALSE(message.empty());
  for (std::size_t size = 0; size < message.size(); ++size)
    EXPECT_EQ(errnum_of_parse(cut(message, size)), EBADMSG) << "cut to " << size << " bytes";
}

}  // namespace linkhealth::testing
