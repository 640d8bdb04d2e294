// Queries of a Prometheus server over HTTP or HTTPS; needs no daemon.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linkhealth::cli {

struct PrometheusOptions {
  std::string url;                ///< http[s]://[user:password@]host[:port][/prefix]
  std::string bearer_token_file;  ///< "": none
  std::string ca_file;            ///< "": the system's
};

/// One series of an instant vector.
struct PrometheusRow {
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
  /// "" where the series does not have it.
  [[nodiscard]] std::string_view label(std::string_view name) const;
};
using PrometheusVector = std::vector<PrometheusRow>;

/// Series that one answer may have; a longer one is an error, never a part of it.
inline constexpr std::size_t kMostRows = 50'000;

/// The body of an answer of /api/v1/query. An error has Prometheus' own error, or that this is no
/// answer of it.
Result<PrometheusVector> parse_vector(std::string_view body);

class Prometheus {
 public:
  /// An error for an address that is none, or a file that can't be read.
  static Result<Prometheus> open(const PrometheusOptions& options);

  /// An error (errnum 0: it answered; else no answer came) is one line with the address, without
  /// its password.
  [[nodiscard]] Result<PrometheusVector> query(const std::string& expression) const;
  /// The address without user and password.
  [[nodiscard]] const std::string& shown() const { return url_; }

 private:
  Prometheus() = default;
  std::string url_;  ///< without user and password
  std::string user_, password_, token_, ca_file_;
};

}  // namespace linkhealth::cli
