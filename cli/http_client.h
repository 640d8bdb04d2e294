// One HTTP request with libcurl: to the daemon's Unix socket, or to a Prometheus.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace linkhealth::cli {

struct HttpTarget {
  std::string url;
  std::string unix_socket;  ///< "": TCP
  bool post = false;        ///< without a body
  std::string user, password, bearer_token;
  std::string ca_file;  ///< "": the system's certificates
  long connect_s = 5;
  long silence_s = 5;  ///< longest time without a byte of the answer
  long whole_s = 60;   ///< time limit for the whole answer; 0: a stream
};

struct Answer {
  int status = 0;
  std::string body;
};

/// Receives bytes of the body as they arrive; false ends the transfer.
using TakeBody = std::function<bool(int status, std::string_view bytes)>;

/// The answer without its body, whatever its status; redirects are not followed. An error: no
/// answer, or a truncated one. errnum is ECANCELED if `take` ended it.
Result<Answer> fetch(const HttpTarget& target, const TakeBody& take);
/// The whole answer, with a body of at most `max_bytes` (errnum EMSGSIZE).
Result<Answer> fetch(const HttpTarget& target, std::size_t max_bytes);

/// Percent-encodes the characters that are special in a path or a query parameter.
std::string url_encoded(std::string_view text);

}  // namespace linkhealth::cli
