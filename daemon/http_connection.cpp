#include "daemon/http_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace linkhealth {

namespace {
constexpr std::size_t kReadBytes = 16384;
// So much is encrypted ahead of what the client takes: a slow one costs no more memory than that.
constexpr std::size_t kEncryptAhead_bytes = 65536;
constexpr std::size_t kTlsRecord_bytes = 16384;  // RFC 8446, 5.1
}  // namespace

bool HttpConnection::read_more() {
  std::array<char, kReadBytes> buffer;  // NOLINT(*-member-init): filled by recv
  const auto got = recv(fd.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) {
    ended = true;
    return true;
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (tls == nullptr) {
    in.append(bytes);
    return true;
  }
  const TlsSession::State state = tls->receive(bytes, in);
  if (state == TlsSession::State::kEnded) ended = true;
  if (state != TlsSession::State::kBroken) return true;
  flush(tls->to_network());  // the alert that says why, if the client still takes it
  return false;
}

void HttpConnection::answer_with(std::string head, SharedBytes body) {
  head_ = std::move(head);
  body_ = std::move(body);
  sent_ = 0;
}

bool HttpConnection::send_more() { return tls == nullptr ? send_plain() : send_encrypted(); }

bool HttpConnection::send_plain() {
  if (body_ == nullptr) return true;
  const std::size_t all_bytes = head_.size() + body_->size();
  while (sent_ < all_bytes) {
    std::array<iovec, 2> parts{};
    const std::size_t of_head = std::min(sent_, head_.size());
    const std::size_t of_body = sent_ - of_head;
    parts[0] = {head_.data() + of_head, head_.size() - of_head};
    parts[1] = {const_cast<char*>(body_->data()) + of_body, body_->size() - of_body};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const auto sent = sendmsg(fd.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    sent_ += static_cast<std::size_t>(sent);
  }
  body_ = nullptr;
  return true;
}

bool HttpConnection::flush(std::string& bytes) {
  std::size_t done = 0;
  bool good = true;
  while (done < bytes.size()) {
    const auto sent = send(fd.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      good = errno == EAGAIN;
      break;
    }
    done += static_cast<std::size_t>(sent);
  }
  bytes.erase(0, done);
  return good;
}

bool HttpConnection::send_encrypted() {
  std::string& network = tls->to_network();
  for (;;) {
    while (body_ != nullptr && network.size() < kEncryptAhead_bytes) {
      const bool of_head = sent_ < head_.size();
      const std::string_view rest = of_head ? std::string_view(head_).substr(sent_)
                                            : std::string_view(*body_).substr(sent_ - head_.size());
      if (!rest.empty() && !tls->send(rest.substr(0, kTlsRecord_bytes))) return false;
      sent_ += std::min(rest.size(), kTlsRecord_bytes);
      if (sent_ >= head_.size() + body_->size()) body_ = nullptr;
    }
    if (network.empty()) return true;
    if (!flush(network)) return false;
    if (!network.empty()) return true;
  }
}

}  // namespace linkhealth
