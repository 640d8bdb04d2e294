// The text of imported files.
#pragma once

#include <fmt/format.h>

#include <string>

namespace linkhealth::testing {

inline std::string file_text(const std::string& at, const std::string& ports,
                             double valid_for_s = 120) {
  return fmt::format(
      R"({{"schema":"linkhealth.import/1","at":"{}","valid_for_s":{},"ports":{{{}}}}})", at,
      valid_for_s, ports);
}
inline constexpr const char* kAt = "2026-11-20T10:00:12Z";
inline constexpr const char* kPeer =
    R"("mlx5_0/1":{"peer":{"source":"telemetry","system":"leaf-12","port":"Ethernet17/1",)"
    R"("module":{"temperature_c":48,"lanes":[{"rx_power_mw":0.9,"tx_power_mw":1.1}]}}})";

}  // namespace linkhealth::testing
