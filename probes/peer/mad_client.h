// Requests to a port's own and far agents, over a MadPort.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "probes/peer/mad_port.h"

namespace linkhealth {

struct MadTimeout {
  Milliseconds one_try{200};
  int tries = 2;
};

/// A LID that unicast can reach (IBA 4.1.3).
bool is_unicast_lid(std::uint16_t lid);

/// Get requests of one port, with their answers checked.
class MadClient {
 public:
  /// `transaction` goes on over all clients of a port, so that a late answer fits no later request.
  MadClient(MadPort& port, const MadTimeout& timeout, std::uint32_t& transaction)
      : port_(port), timeout_(timeout), transaction_(transaction) {}
  /// From this node's own port, or with `egress_port` from what is at its other end.
  Result<Mad> get_directed(MadAttribute attribute, std::uint8_t egress_port, std::uint8_t port = 0);
  /// From the performance agent at `lid`.
  Result<Mad> get_perf(MadAttribute attribute, std::uint16_t lid, std::uint8_t port = 0);
  [[nodiscard]] int mads() const { return mads_; }

 private:
  Result<Mad> get(MadRequest request, std::uint16_t lid);

  MadPort& port_;
  const MadTimeout& timeout_;
  std::uint32_t& transaction_;
  int mads_ = 0;
};

/// The counters of `port` at `lid`: one MAD, two where the agent has 64-bit counters. When only the
/// 64-bit ones fail they are left out, with a reason; an Error where the error counters are among
/// them. Also for this node's own port, at its own LID.
struct PerfCounters {
  Counters counters;
  std::optional<std::string> reason;
};
Result<PerfCounters> get_counters(MadClient& client, std::uint16_t lid, std::uint8_t port,
                                  const PerfCapabilities& offered);

}  // namespace linkhealth
