// Answers that go on for as long as somebody listens, each on a blocking socket with a thread of
// its own.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <thread>

#include "daemon/http_answer.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

class HttpStreams {
 public:
  HttpStreams() = default;
  ~HttpStreams() { stop(); }
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;

  /// Takes the connected `socket` over. A client that takes nothing for `patience` has lost its
  /// stream. False: the system gives no thread, and the socket is left as it was.
  bool begin(OwnedFd& socket, std::unique_ptr<HttpStream> stream, Milliseconds patience);
  /// Ends all of them and waits for their threads.
  void stop();

 private:
  struct Streaming {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };

  std::atomic<bool> stopping_ = false;
  std::list<Streaming> streams_;
};

}  // namespace linkhealth
