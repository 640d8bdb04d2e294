// Byte transport to the kernel over a libnl netlink socket: one request and its answers, or
// multicast messages. Parses message headers only; the probes parse the rest. (linux:
// net/netlink/af_netlink.c)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "probes/host.h"

struct nl_sock;

namespace linkhealth {

/// Collects the answers to one request from datagrams. Separate from the socket for tests.
class AnswerCollector {
 public:
  explicit AnswerCollector(std::uint32_t sequence) : sequence_(sequence) {}

  /// Adds one datagram. Messages with other sequence numbers are late answers to an abandoned
  /// request and are ignored. Errors: the kernel's, with its extended ack text; EAGAIN if a change
  /// interrupted a dump (NLM_F_DUMP_INTR); EBADMSG if the lengths are invalid.
  Result<void> add(std::span<const std::byte> datagram);
  [[nodiscard]] bool complete() const { return complete_; }
  std::vector<Bytes> take() { return std::move(answers_); }

 private:
  Result<void> add_message(std::span<const std::byte> message);

  std::uint32_t sequence_;
  bool complete_ = false;
  bool interrupted_ = false;
  std::vector<Bytes> answers_;
};

using NetlinkSocket = std::unique_ptr<nl_sock, void (*)(nl_sock*)>;

class KernelSocket {
 public:
  static Result<std::unique_ptr<KernelSocket>> open(int protocol);

  /// See Host::netlink. ETIMEDOUT if the kernel does not answer within 2 s. A request that the
  /// kernel handles inside send(2), such as a read of a slow module's EEPROM, has no time limit.
  Result<std::vector<Bytes>> request(std::span<const std::byte> message);
  /// False after an error that may leave answers behind in the socket.
  [[nodiscard]] bool usable() const { return usable_; }

 private:
  explicit KernelSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  Result<std::vector<Bytes>> request_once(std::span<const std::byte> message);
  Result<void> receive(AnswerCollector& collector);

  NetlinkSocket socket_;
  bool usable_ = true;
};

/// Subscribes to multicast groups; see Host::listen.
Result<std::unique_ptr<HostEvents>> open_kernel_events(int protocol,
                                                       std::span<const std::uint32_t> groups);

}  // namespace linkhealth
