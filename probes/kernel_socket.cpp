#include "probes/kernel_socket.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace linkhealth {

namespace {

constexpr timeval kReceiveTimeout{2, 0};
constexpr int kEventBufferBytes = 1 << 20;
constexpr std::size_t kMaxAnswerBytes = 64U << 20U;
constexpr int kTornDumpTries = 3;

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset = 0) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::size_t aligned(std::size_t size) {
  return (size + NLMSG_ALIGNTO - 1) & ~std::size_t{NLMSG_ALIGNTO - 1};
}

/// One datagram from the kernel itself into `buffer`, which grows as needed. 0 when another process
/// sent it.
Result<std::size_t> receive_datagram(int fd, int flags, std::vector<std::byte>& buffer) {
  for (;;) {
    const auto size = recv(fd, nullptr, 0, MSG_PEEK | MSG_TRUNC | flags);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno_error("netlink receive", errno);
    buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(size)));
    sockaddr_nl sender{};
    iovec part{buffer.data(), buffer.size()};
    msghdr header{};
    header.msg_name = &sender;
    header.msg_namelen = sizeof sender;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    const auto received = recvmsg(fd, &header, flags);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) return errno_error("netlink receive", errno);
    if ((header.msg_flags & MSG_TRUNC) != 0)
      return Error{"netlink receive: a message was cut", EMSGSIZE};
    return sender.nl_pid == 0 ? static_cast<std::size_t>(received) : 0;
  }
}

/// The text of NLMSGERR_ATTR_MSG, "" when there is none.
std::string extended_ack(std::span<const std::byte> message) {
  const auto header = load<nlmsghdr>(message);
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return "";
  std::size_t at = NLMSG_HDRLEN + sizeof(nlmsgerr);
  const bool is_error = header.nlmsg_type == NLMSG_ERROR;
  if (!is_error) {
    at = NLMSG_HDRLEN + sizeof(int);  // NLMSG_DONE of a dump that failed
  } else if ((header.nlmsg_flags & NLM_F_CAPPED) == 0 && message.size() >= at) {
    const auto echoed = load<nlmsgerr>(message, NLMSG_HDRLEN).msg.nlmsg_len;
    at += aligned(echoed < sizeof(nlmsghdr) ? 0 : echoed - sizeof(nlmsghdr));
  }
  while (at + sizeof(nlattr) <= message.size()) {
    const auto attribute = load<nlattr>(message, at);
    if (attribute.nla_len < sizeof(nlattr) || at + attribute.nla_len > message.size()) return "";
    if ((attribute.nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG) {
      const auto* text = reinterpret_cast<const char*>(message.data() + at + sizeof(nlattr));
      return {text, strnlen(text, attribute.nla_len - sizeof(nlattr))};
    }
    at += aligned(attribute.nla_len);
  }
  return "";
}

Error kernel_error(int errnum, std::span<const std::byte> message) {
  std::string text = extended_ack(message);
  return {std::string(std::strerror(errnum)) + (text.empty() ? "" : " (" + text + ")"), errnum,
          std::move(text)};
}

class KernelEvents final : public HostEvents {
 public:
  KernelEvents(OwnedFd fd, bool whole)
      : fd_(std::move(fd)), whole_(whole), buffer_(std::size_t{32} * 1024) {}
  [[nodiscard]] int fd() const override { return fd_.get(); }

  Result<std::vector<Bytes>> receive() override {
    for (std::size_t datagrams = 0; datagrams < kAtOnce;
         ++datagrams)  // one flood must not hold the loop
    {
      auto size = receive_datagram(fd_.get(), MSG_DONTWAIT, buffer_);
      if (!size && (size.error().errnum == EAGAIN || size.error().errnum == EWOULDBLOCK)) break;
      if (!size) return size.error();  // what came before stays in pending_ for the next call
      if (!whole_) split_messages(std::span(buffer_).first(*size));
      if (whole_ && *size > 0)
        pending_.emplace_back(buffer_.begin(), buffer_.begin() + static_cast<long>(*size));
    }
    return std::exchange(pending_, {});
  }

 private:
  void split_messages(std::span<const std::byte> datagram) {
    while (datagram.size() >= sizeof(nlmsghdr)) {
      const std::size_t length = load<nlmsghdr>(datagram).nlmsg_len;
      if (length < sizeof(nlmsghdr) || length > datagram.size()) return;
      pending_.emplace_back(datagram.begin(),
                            datagram.begin() + static_cast<std::ptrdiff_t>(length));
      datagram = datagram.subspan(std::min(aligned(length), datagram.size()));
    }
  }

  OwnedFd fd_;
  bool whole_;  ///< datagrams without netlink headers
  std::vector<std::byte> buffer_;
  std::vector<Bytes> pending_;
};

}  // namespace

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) close(fd_);
}

Result<void> AnswerCollector::add(std::span<const std::byte> datagram) {
  while (!complete_ && !datagram.empty()) {
    if (datagram.size() < sizeof(nlmsghdr)) return Error{"netlink answer is cut", EBADMSG};
    const std::size_t length = load<nlmsghdr>(datagram).nlmsg_len;
    if (length < sizeof(nlmsghdr) || length > datagram.size())
      return Error{"netlink answer has a bad length", EBADMSG};
    if (auto added = add_message(datagram.first(length)); !added) return added;
    datagram = datagram.subspan(std::min(aligned(length), datagram.size()));
  }
  return {};
}

Result<void> AnswerCollector::add_message(std::span<const std::byte> message) {
  const auto header = load<nlmsghdr>(message);
  if (header.nlmsg_seq != sequence_ || (port_ != 0 && header.nlmsg_pid != port_)) return {};
  torn_ = torn_ || (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
  if (header.nlmsg_type == NLMSG_NOOP) return {};
  const bool ends = header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE;
  if (!ends) {
    answers_.emplace_back(message.begin(), message.end());
    return {};
  }
  complete_ = true;
  const bool has_code = message.size() >= NLMSG_HDRLEN + sizeof(int);
  if (!has_code && header.nlmsg_type == NLMSG_ERROR) return Error{"netlink error is cut", EBADMSG};
  const int code = has_code ? load<int>(message, NLMSG_HDRLEN) : 0;
  if (code < 0 && code > -4096) return kernel_error(-code, message);
  if (torn_) return Error{"the list changed while the kernel wrote it", EAGAIN};
  return {};
}

Result<std::unique_ptr<KernelSocket>> KernelSocket::open(int protocol) {
  OwnedFd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd) return errno_error("netlink socket", errno);
  // Kernels that lack an option work without it: no texts, no strictness.
  const int on = 1;
  setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  if (setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kReceiveTimeout, sizeof kReceiveTimeout) != 0)
    return errno_error("netlink receive timeout", errno);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno_error("netlink bind", errno);
  socklen_t size = sizeof address;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return errno_error("netlink address", errno);
  return std::unique_ptr<KernelSocket>(new KernelSocket(std::move(fd), address.nl_pid));
}

bool is_torn(std::span<const std::byte> request, const Error& error) {
  return error.errnum == EAGAIN && request.size() >= sizeof(nlmsghdr) &&
         (load<nlmsghdr>(request).nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

Result<std::vector<Bytes>> KernelSocket::request(std::span<const std::byte> message) {
  for (int tries = 1;; ++tries) {
    auto answers = request_once(message);
    if (answers || !is_torn(message, answers.error()) || tries == kTornDumpTries || !usable_)
      return answers;
  }
}

Result<void> KernelSocket::send(std::span<const std::byte> message) {
  Bytes bytes(message.begin(), message.end());
  auto header = load<nlmsghdr>(bytes);
  header.nlmsg_seq = ++sequence_;
  header.nlmsg_pid = port_;
  header.nlmsg_flags |= NLM_F_REQUEST;
  // Without a dump the closing ACK tells that nothing more comes.
  if ((header.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) header.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(bytes.data(), &header, sizeof header);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  for (;;) {
    if (sendto(fd_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&kernel),
               sizeof kernel) >= 0)
      return {};
    if (errno != EINTR) return errno_error("netlink send", errno);
  }
}

Result<std::vector<Bytes>> KernelSocket::request_once(std::span<const std::byte> message) {
  if (message.size() < sizeof(nlmsghdr) || load<nlmsghdr>(message).nlmsg_len != message.size())
    return Error{"netlink request has a bad length", EINVAL};
  if (auto sent = send(message); !sent) return sent.error();
  AnswerCollector collector(sequence_, port_);
  std::size_t total = 0;
  while (!collector.complete()) {
    auto size = receive_datagram(fd_.get(), 0, buffer_);
    if (!size) {
      usable_ = false;
      if (size.error().errnum == EAGAIN)
        return Error{"no answer from the kernel for 2 s", ETIMEDOUT};
      return size.error();
    }
    total += *size;
    if (total > kMaxAnswerBytes) {
      usable_ = false;
      return Error{"netlink answer is larger than 64 MiB", EMSGSIZE};
    }
    if (auto added = collector.add(std::span<const std::byte>(buffer_).first(*size)); !added) {
      if (!collector.complete()) usable_ = false;
      return added.error();
    }
  }
  return collector.take();
}

Result<std::unique_ptr<HostEvents>> open_kernel_events(int protocol,
                                                       std::span<const std::uint32_t> groups) {
  OwnedFd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!fd) return errno_error("netlink socket", errno);
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kEventBufferBytes, sizeof kEventBufferBytes);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno_error("netlink bind", errno);
  for (const std::uint32_t group : groups)
    if (setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
      return errno_error("netlink group " + std::to_string(group), errno);
  return std::unique_ptr<HostEvents>(
      std::make_unique<KernelEvents>(std::move(fd), protocol == NETLINK_KOBJECT_UEVENT));
}

}  // namespace linkhealth
