// A token bucket: how many requests are answered in a time. Fed with instants, reads no clock.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "config/web_config.h"

namespace linkhealth {

class RateLimit {
 public:
  /// Starts full, as exporter-toolkit's does.
  RateLimit(const WebRateLimit& limit, SteadyTime now)
      : limit_(limit), tokens_(limit.burst), filled_at_(now) {}

  /// Takes a token; false when there is none.
  bool take(SteadyTime now) {
    const double passed_ms = in_seconds(now - filled_at_) * 1000;
    filled_at_ = now;
    tokens_ = std::min(tokens_ + passed_ms / limit_.interval_ms, static_cast<double>(limit_.burst));
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  WebRateLimit limit_;
  double tokens_;
  SteadyTime filled_at_;
};

}  // namespace linkhealth
