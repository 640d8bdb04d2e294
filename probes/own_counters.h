// The InfiniBand counters of this node's own port, all of them by two local MADs (PortCounters and
// PortCountersExtended) instead of one file of sysfs and firmware command each. Names and widths
// are the files'.
//
// An agent is asked at a LID, and the answer does not say whose it is. So the port's own LID is
// read first, again each minute, and again before new errors are believed: a subnet manager may
// have given it to another port meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "model/snapshot.h"
#include "probes/mad_client.h"
#include "probes/mad_port.h"

namespace linkhealth {

class OwnCounters {
 public:
  /// `opener` may be empty: then nothing can be asked.
  OwnCounters(MadOpener opener, const PortId& id);
  /// Whether this port has such counters: InfiniBand, of a verbs device, and there is a way to ask.
  [[nodiscard]] bool offered() const { return offered_; }
  /// The port's counters. An Error when it could not be asked or answered badly; EOPNOTSUPP when
  /// its agent has no 64-bit traffic counters, so that the files say more; ENOTCONN when the port
  /// has no LID or forwards nothing but subnet management yet, which is no failure: the files can
  /// be read. The interface is open during the read only, so that the device can go at any time.
  Result<Counters> read(SteadyTime now);
  /// MADs sent since the start; each is a firmware command on mlx5.
  [[nodiscard]] std::uint64_t mads() const { return mads_; }

 private:
  Result<Counters> read(MadClient& client, SteadyTime now);
  Result<bool> update_lid(MadClient& client, SteadyTime now);
  [[nodiscard]] bool shows_new_errors(const Counters& counters) const;

  bool offered_;
  MadOpener opener_;
  PortId id_;
  MadTimeout timeout_;
  std::uint32_t transaction_ = 0;
  std::uint64_t mads_ = 0;
  std::uint16_t lid_ = 0;
  SteadyTime lid_read_at_;
  std::optional<PerfCapabilities> agent_;
  std::optional<Counters> last_;
};

}  // namespace linkhealth
