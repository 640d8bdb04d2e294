// A devlink for tests: its answers to requests for health reporters and their diagnoses.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probes/host.h"

namespace linkhealth::testing {

struct DevlinkAnswers {
  struct Reporter {
    bool in_error = false;
    std::uint64_t errors = 0;
    std::string description{};  ///< of its last error
  };
  using Reporters = std::map<std::string, Reporter>;

  std::map<std::pair<std::string, std::string>, Reporters> reporters;  ///< by bus and device
  int diagnosis_error = 0;
  unsigned diagnoses = 0;  ///< how many were requested

  Result<std::vector<Bytes>> answer(int protocol, std::span<const std::byte> request);

 private:
  [[nodiscard]] std::vector<Bytes> dump() const;
  [[nodiscard]] Result<std::vector<Bytes>> diagnose(std::span<const std::byte> request) const;
};

/// The kernel's answer to a dump, of one reporter; `state` as the kernel writes it.
Bytes devlink_reporter(const std::string& bus, const std::string& device, const std::string& name,
                       std::uint8_t state, std::uint64_t errors = 3);

/// The first message of a diagnosis by ice (linux:
/// drivers/net/ethernet/intel/ice/devlink/health.c).
Bytes devlink_diagnosis(const std::string& description);

}  // namespace linkhealth::testing
