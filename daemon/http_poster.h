// One POST to another system. The real one is libcurl, loaded when something is configured to be
// sent.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/outputs.h"

namespace linkhealth {

struct PostReply {
  int status = 0;
  std::string body;  ///< its beginning
};

class HttpPoster {
 public:
  virtual ~HttpPoster() = default;
  /// `body` is JSON. `id`: sent as Idempotency-Key; "" for none. An Error when there was no answer.
  virtual Result<PostReply> post(const std::string& url, const std::string& body,
                                 const std::string& id) = 0;
};

/// Blocks for at most ten seconds a post; less once `*stop` is true. `stop` must outlive it. Not
/// for two threads at once.
Result<std::unique_ptr<HttpPoster>> curl_poster(const SinkAccess& access,
                                                const std::atomic<bool>& stop);

}  // namespace linkhealth
