// Limits the memory for response bodies that clients have not yet read. Otherwise the daemon would
// hold a copy of a large response for each slow reader. Used only by the server's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace linkhealth {

class BodyBudget {
 public:
  using Body = std::shared_ptr<const std::string>;
  /// A body up to this size is always accepted: it is no larger than the socket's own buffers, and
  /// a scrape must not be refused because other clients are slow.
  static constexpr std::size_t kAlwaysAccepted_bytes = 65'536;

  explicit BodyBudget(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  /// The body to send; if the same body is already being sent, it is shared. nullptr: over budget.
  /// A response that is larger than the whole budget is accepted if it is the only one.
  Body accept(std::string body);

 private:
  const std::size_t limit_bytes_;
  std::vector<std::weak_ptr<const std::string>> under_way_;
};

}  // namespace linkhealth
