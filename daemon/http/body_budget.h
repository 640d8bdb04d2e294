// The bodies of answers that their clients have not taken yet. Slow readers of large answers would
// otherwise have the daemon hold a copy for each of them. Used by the server's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace linkhealth {

class BodyBudget {
 public:
  using Body = std::shared_ptr<const std::string>;
  /// A body up to this size is always accepted: it is no more than the socket's own buffers, and a
  /// scrape is not refused because others are slow.
  static constexpr std::size_t kAlwaysAccepted_bytes = 65'536;

  explicit BodyBudget(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  /// The body to send; one that is under way already is shared. nullptr: it would be too much. An
  /// answer that is larger than the whole budget is accepted when it is the only one.
  Body accept(std::string body);

 private:
  const std::size_t limit_bytes_;
  std::vector<std::weak_ptr<const std::string>> under_way_;
};

}  // namespace linkhealth
