// One connection of the HTTP server: its bytes in and out, encrypted or not. Knows no requests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "daemon/http_answer.h"
#include "daemon/http_gate.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

class HttpConnection {
 public:
  HttpConnection(OwnedFd socket, std::unique_ptr<TlsSession> session, std::uint64_t number)
      : fd(std::move(socket)), tls(std::move(session)), ticket(number) {}

  OwnedFd fd;
  std::unique_ptr<TlsSession> tls;  ///< nullptr: plain
  std::uint64_t ticket;
  std::string in;                  ///< bytes that are not answered yet
  bool last = false;               ///< close when the answer is sent
  bool ended = false;              ///< the client sends nothing more
  bool waiting = false;            ///< for the gate's word on the request in `in`
  bool answered = false;           ///< at least one request
  bool asked = false;              ///< the gate, and its word has not been used yet
  std::unique_ptr<HttpFeed> feed;  ///< goes on until one of both ends
  std::uint32_t watched = 0;
  SteadyTime deadline;

  /// Between two requests. One that has not asked yet is about to.
  [[nodiscard]] bool idle() const {
    return answered && in.empty() && !sending() && !waiting && feed == nullptr;
  }
  /// What came is appended to `in`. False: broken.
  bool read_more();
  void answer_with(std::string head, SharedBytes body);
  [[nodiscard]] bool answering() const { return body_ != nullptr; }
  [[nodiscard]] bool sending() const { return body_ != nullptr || wants_network(); }
  /// Sends what the client takes now. False: broken.
  bool send_more();

 private:
  [[nodiscard]] bool wants_network() const { return tls != nullptr && !tls->to_network().empty(); }
  bool send_plain();
  bool send_encrypted();
  /// False: broken; true with bytes left: the client takes no more now.
  bool flush(std::string& bytes);

  std::string head_;      ///< of the answer that is being sent
  SharedBytes body_;      ///< nullptr: no answer is being sent
  std::size_t sent_ = 0;  ///< of head and body
};

}  // namespace linkhealth
