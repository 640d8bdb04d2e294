// Answers as bytes, and those that go on: a stream with a thread of its own, a feed on the server's
// thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "daemon/api.h"

namespace linkhealth {

/// Gives the next bytes of a stream; called on a thread of the stream's own. nullopt: it ends in
/// good order. False `more` with no bytes: nothing yet.
struct HttpStream {
  enum class State { kBytes, kNothingYet, kEnded, kBroken };
  std::string_view content_type;  ///< a literal
  std::function<State(std::string&)> next;
};

/// Asked on the server's own thread, after HttpServer::wake(): costs nothing while nothing happens.
struct HttpFeed {
  std::string_view content_type;      ///< a literal
  std::function<std::string()> next;  ///< "": nothing new
  std::string keep_alive;  ///< sent after that long a silence, so that both ends see whether the
                           ///< other lives
  Milliseconds keep_alive_after{15'000};
};

struct HttpAnswer {
  ApiReply reply;
  std::unique_ptr<HttpStream> stream;  ///< instead of the reply's body
  std::unique_ptr<HttpFeed> feed;      ///< likewise
};

/// "Not Found" of 404.
std::string_view status_words(int status);
/// "HTTP/1.1 200 OK" and the header fields of an answer with a body of `size` bytes; nullopt: in
/// chunks.
std::string http_head(const ApiReply& reply, std::optional<std::size_t> size, bool keep_alive);
/// Bytes as a chunk (RFC 9112, 7.1). REQUIRES: not empty, that would be the end.
std::string http_chunk(std::string_view bytes);

}  // namespace linkhealth
