// Byte transport to the kernel over netlink: one request and its answers, or multicast messages as
// they come. Knows message headers only; what is inside is the probes' business. (linux:
// net/netlink/af_netlink.c)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probes/host.h"

namespace linkhealth {

/// A file descriptor that is closed with its owner.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  ~OwnedFd();
  [[nodiscard]] int get() const { return fd_; }
  /// The descriptor, which is somebody else's from now on.
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// The answers to one request, gathered from datagrams. Apart from the socket so that it can be
/// tested with bytes.
class AnswerCollector {
 public:
  AnswerCollector(std::uint32_t sequence, std::uint32_t socket_port)
      : sequence_(sequence), port_(socket_port) {}

  /// Takes one datagram. Messages of other sequences are late answers to a request that was given
  /// up: ignored. An Error when the kernel answered with one, with its extended ack text; EAGAIN
  /// when a dump was torn by a change (NLM_F_DUMP_INTR); EBADMSG when the lengths make no sense.
  Result<void> add(std::span<const std::byte> datagram);
  [[nodiscard]] bool complete() const { return complete_; }
  std::vector<Bytes> take() { return std::move(answers_); }

 private:
  Result<void> add_message(std::span<const std::byte> message);

  std::uint32_t sequence_;
  std::uint32_t port_;
  bool complete_ = false;
  bool torn_ = false;
  std::vector<Bytes> answers_;
};

/// Whether `error` says that a dump must be asked for once more. A driver's own EAGAIN (a module's
/// busy bus) is an answer.
bool is_torn(std::span<const std::byte> request, const Error& error);

class KernelSocket {
 public:
  static Result<std::unique_ptr<KernelSocket>> open(int protocol);

  /// See Host::netlink. ETIMEDOUT when the kernel says nothing for 2 s; after that the socket must
  /// be thrown away. (A request that the kernel works on inside send(2), such as a slow module's
  /// EEPROM, takes as long as it takes.)
  Result<std::vector<Bytes>> request(std::span<const std::byte> message);
  /// False after an error that may leave answers behind in the socket.
  [[nodiscard]] bool usable() const { return usable_; }

 private:
  explicit KernelSocket(OwnedFd fd, std::uint32_t port)
      : fd_(std::move(fd)), port_(port), buffer_(kFirstBuffer) {}
  Result<std::vector<Bytes>> request_once(std::span<const std::byte> message);
  Result<void> send(std::span<const std::byte> message);

  static constexpr std::size_t kFirstBuffer =
      std::size_t{32} * 1024;  // the kernel fills dump datagrams up to this size
  OwnedFd fd_;
  std::uint32_t port_;
  std::uint32_t sequence_ = 0;
  bool usable_ = true;
  std::vector<std::byte> buffer_;
};

/// Opens the events of multicast groups; see Host::listen.
Result<std::unique_ptr<HostEvents>> open_kernel_events(int protocol,
                                                       std::span<const std::uint32_t> groups);

}  // namespace linkhealth
