#include "probes/netlink/kernel_socket.h"

#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "probes/netlink/netlink_message.h"

namespace linkhealth {

namespace {

constexpr timeval kReceiveTimeout{2, 0};
constexpr int kRequestBufferBytes = 1 << 18;
constexpr int kEventBufferBytes = 1 << 20;  // a loading driver sends hundreds of uevents at once
constexpr int kInterruptedDumpTries = 3;

/// libnl has its own error numbers; callers compare with errno.
Error socket_error(const std::string& what, int libnl_error) {
  constexpr std::pair<int, int> kErrnos[] = {
      {NLE_AGAIN, EAGAIN},        {NLE_NOMEM, ENOBUFS},
      {NLE_PERM, EPERM},          {NLE_NOACCESS, EACCES},
      {NLE_MSG_TRUNC, EMSGSIZE},  {NLE_PROTO_MISMATCH, EPROTONOSUPPORT},
      {NLE_OBJ_NOTFOUND, ENOENT}, {NLE_AF_NOSUPPORT, EAFNOSUPPORT}};
  const auto* const row =
      std::ranges::find(kErrnos, std::abs(libnl_error), &std::pair<int, int>::first);
  return errno_error(what, row == std::end(kErrnos) ? EIO : row->second);
}

Result<NetlinkSocket> connect(int protocol, int receive_buffer_bytes) {
  NetlinkSocket socket(nl_socket_alloc(), nl_socket_free);
  if (!socket) return errno_error("netlink socket", ENOMEM);
  if (const int failed = nl_connect(socket.get(), protocol); failed < 0)
    return socket_error("netlink socket", failed);
  nl_socket_set_buffer_size(socket.get(), receive_buffer_bytes, 0);
  nl_socket_enable_msg_peek(socket.get());  // a datagram of any length
  return socket;
}

/// One datagram from the kernel. Empty: another process sent it.
Result<Bytes> receive_datagram(nl_sock* socket) {
  sockaddr_nl sender{};
  unsigned char* data = nullptr;
  const int size = nl_recv(socket, &sender, &data, nullptr);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(data, &std::free);
  if (size < 0) return socket_error("netlink receive", size);
  const auto bytes = std::as_bytes(std::span(data, static_cast<std::size_t>(size)));
  return sender.nl_pid == 0 ? Bytes(bytes.begin(), bytes.end()) : Bytes();
}

/// The first message of `datagram`, which is advanced to the next; nullopt: its length is invalid.
std::optional<ByteView> next_message(ByteView& datagram) {
  const auto* const head = reinterpret_cast<const nlmsghdr*>(datagram.data());
  if (nlmsg_ok(head, static_cast<int>(datagram.size())) == 0) return std::nullopt;
  const ByteView message = datagram.first(head->nlmsg_len);
  datagram = datagram.subspan(std::min<std::size_t>(NLMSG_ALIGN(head->nlmsg_len), datagram.size()));
  return message;
}

/// The text of NLMSGERR_ATTR_MSG, "" if there is none. NETLINK_CAP_ACK: the kernel echoes only the
/// header of our request.
std::string extended_ack(ByteView message, const nlmsghdr& head) {
  if ((head.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return "";
  // Otherwise it is the NLMSG_DONE of a dump that failed.
  const std::size_t body = head.nlmsg_type == NLMSG_ERROR ? sizeof(nlmsgerr) : sizeof(int);
  const ByteView rest = message.subspan(std::min(NLMSG_HDRLEN + body, message.size()));
  return std::string(NetlinkAttributes(rest)[NLMSGERR_ATTR_MSG].text());
}

bool is_dump(ByteView request) {
  nlmsghdr head{};
  if (request.size() >= sizeof head) std::memcpy(&head, request.data(), sizeof head);
  return (head.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

class KernelEvents final : public HostEvents {
 public:
  KernelEvents(NetlinkSocket socket, bool whole) : socket_(std::move(socket)), whole_(whole) {}
  [[nodiscard]] int fd() const override { return nl_socket_get_fd(socket_.get()); }

  Result<std::vector<Bytes>> receive() override {
    // Bounded: a flood must not block the loop.
    for (std::size_t datagrams = 0; datagrams < kAtOnce; ++datagrams) {
      auto datagram = receive_datagram(socket_.get());
      if (!datagram && datagram.error().errnum == EAGAIN) break;
      if (!datagram) return datagram.error();  // pending_ stays for the next call
      add(*std::move(datagram));
    }
    return std::exchange(pending_, {});
  }

 private:
  void add(Bytes datagram) {
    if (datagram.empty()) return;
    if (whole_) return pending_.push_back(std::move(datagram));
    for (ByteView rest = datagram; const auto message = next_message(rest);)
      pending_.emplace_back(message->begin(), message->end());
  }

  NetlinkSocket socket_;
  bool whole_;  ///< datagrams without netlink headers
  std::vector<Bytes> pending_;
};

}  // namespace

Result<void> AnswerCollector::add(std::span<const std::byte> datagram) {
  while (!complete_ && !datagram.empty()) {
    const auto message = next_message(datagram);
    if (!message) return Error{"netlink answer has a bad length", EBADMSG};
    if (auto added = add_message(*message); !added) return added;
  }
  return {};
}

Result<void> AnswerCollector::add_message(std::span<const std::byte> message) {
  const auto& head = *reinterpret_cast<const nlmsghdr*>(message.data());
  if (head.nlmsg_seq != sequence_) return {};
  interrupted_ = interrupted_ || (head.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
  if (head.nlmsg_type == NLMSG_NOOP) return {};
  if (head.nlmsg_type != NLMSG_ERROR && head.nlmsg_type != NLMSG_DONE) {
    answers_.emplace_back(message.begin(), message.end());
    return {};
  }
  complete_ = true;
  int code = 0;
  const bool has_code = nlmsg_datalen(&head) >= static_cast<int>(sizeof code);
  if (!has_code && head.nlmsg_type == NLMSG_ERROR) return Error{"netlink error is cut", EBADMSG};
  if (has_code) std::memcpy(&code, nlmsg_data(&head), sizeof code);
  if (code < 0 && code > -4096) {
    std::string text = extended_ack(message, head);
    return Error{std::strerror(-code) + (text.empty() ? "" : " (" + text + ")"), -code, text};
  }
  if (interrupted_) return Error{"the list changed while the kernel wrote it", EAGAIN};
  return {};
}

Result<std::unique_ptr<KernelSocket>> KernelSocket::open(int protocol) {
  auto socket = connect(protocol, kRequestBufferBytes);
  if (!socket) return socket.error();
  const int fd = nl_socket_get_fd(socket->get());
  // Kernels without one of these options still work, without texts or strict checks.
  const int on = 1;
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kReceiveTimeout, sizeof kReceiveTimeout) != 0)
    return errno_error("netlink receive timeout", errno);
  return std::unique_ptr<KernelSocket>(new KernelSocket(*std::move(socket)));
}

Result<std::vector<Bytes>> KernelSocket::request(std::span<const std::byte> message) {
  for (int tries = 1;; ++tries) {
    auto answers = request_once(message);
    if (answers || !usable_ || tries == kInterruptedDumpTries) return answers;
    // A driver's own EAGAIN (a module's busy bus) is an answer: only a dump is requested again.
    if (answers.error().errnum != EAGAIN || !is_dump(message)) return answers;
  }
}

Result<std::vector<Bytes>> KernelSocket::request_once(std::span<const std::byte> message) {
  Bytes bytes(message.begin(), message.end());
  auto* const head = reinterpret_cast<nlmsghdr*>(bytes.data());
  if (bytes.size() < sizeof *head || head->nlmsg_len != bytes.size())
    return Error{"netlink request has a bad length", EINVAL};
  head->nlmsg_seq = nl_socket_use_seq(socket_.get());
  head->nlmsg_pid = nl_socket_get_local_port(socket_.get());
  head->nlmsg_flags |= NLM_F_REQUEST;
  // Except for a dump, the closing ACK marks the end of the answers.
  if ((head->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) head->nlmsg_flags |= NLM_F_ACK;
  AnswerCollector collector(head->nlmsg_seq);
  if (const int sent = nl_sendto(socket_.get(), bytes.data(), bytes.size()); sent < 0)
    return socket_error("netlink send", sent);
  if (auto received = receive(collector); !received) {
    usable_ = collector.complete();
    return received.error();
  }
  return collector.take();
}

Result<void> KernelSocket::receive(AnswerCollector& collector) {
  while (!collector.complete()) {
    const auto datagram = receive_datagram(socket_.get());
    if (!datagram && datagram.error().errnum == EAGAIN)
      return Error{"no answer from the kernel for 2 s", ETIMEDOUT};
    if (!datagram) return datagram.error();
    if (auto added = collector.add(*datagram); !added) return added;
  }
  return {};
}

Result<std::unique_ptr<HostEvents>> open_kernel_events(int protocol,
                                                       std::span<const std::uint32_t> groups) {
  auto socket = connect(protocol, kEventBufferBytes);
  if (!socket) return socket.error();
  if (nl_socket_set_nonblocking(socket->get()) < 0) return errno_error("netlink socket", errno);
  for (const std::uint32_t group : groups)
    if (const int failed = nl_socket_add_membership(socket->get(), static_cast<int>(group));
        failed < 0)
      return socket_error("netlink group " + std::to_string(group), failed);
  return std::unique_ptr<HostEvents>(
      std::make_unique<KernelEvents>(*std::move(socket), protocol == NETLINK_KOBJECT_UEVENT));
}

}  // namespace linkhealth
