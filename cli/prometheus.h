// Queries of a Prometheus server over HTTP or HTTPS; needs no daemon.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/http_client.h"

namespace linkhealth::cli {

struct PrometheusOptions {
  std::string url;                  ///< http[s]://[user:password@]host[:port][/prefix]
  std::string bearer_token_file{};  ///< "": none
  std::string ca_file{};            ///< "": the system's
};

/// One series of an instant vector.
struct PrometheusRow {
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
  /// "" if the series does not have it.
  [[nodiscard]] std::string_view label(std::string_view name) const;
};
using PrometheusVector = std::vector<PrometheusRow>;

/// A longer answer is an error.
inline constexpr std::size_t kMostRows = 50'000;

/// Parses the body of an answer of /api/v1/query. An error: Prometheus' own, or the body is another
/// server's.
Result<PrometheusVector> parse_vector(std::string_view body);

class Prometheus {
 public:
  /// Throws CommandError for an invalid address or an unreadable file.
  explicit Prometheus(const PrometheusOptions& options);

  /// Throws CommandError (kNotReachable, or kDaemonError for a refusal) with the address, without
  /// its password.
  [[nodiscard]] PrometheusVector query(const std::string& expression) const;
  /// The value of the first series; 0 without one, or if it is not finite.
  [[nodiscard]] double number(const std::string& expression) const;
  /// The address without user and password.
  [[nodiscard]] const std::string& shown() const { return target_.url; }

 private:
  HttpTarget target_;  ///< its url: without user and password
};

}  // namespace linkhealth::cli
