// What is asked of a port's far end in one round, and what the answers make: the conversation, over
// a MadPort.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/snapshot.h"
#include "probes/mad_port.h"
#include "probes/mad_schedule.h"

namespace linkhealth {

/// A LID that unicast can reach (IBA 4.1.3).
bool is_unicast_lid(std::uint16_t lid);

/// What need not be asked in each round, of a far end that is still the same.
struct KnownPeer {
  std::uint64_t node_guid = 0;
  std::uint8_t port = 0;
  std::string system;
  std::optional<PerfCapabilities> offered;
  std::optional<SteadyTime> asked_at;
  std::optional<SteadyTime> met_at;  ///< when it was first asked after the link came up
};

/// One port's questions, counted. The transaction numbers go on over rounds, so that a late answer
/// fits none.
class MadTalk {
 public:
  MadTalk(MadPort& port, const MadTiming& timing, std::uint32_t& transaction)
      : port_(port), timing_(timing), transaction_(transaction) {}
  /// Asks this node's own port, or what is at the other end of port `leaves_by`. Checked.
  Result<Mad> ask_directed(MadQuestion question, std::uint8_t leaves_by, std::uint8_t port = 0);
  /// Asks the performance agent at `lid`. Checked.
  Result<Mad> ask_perf(MadQuestion question, std::uint16_t lid, std::uint8_t port = 0);
  [[nodiscard]] int mads() const { return mads_; }

 private:
  Result<Mad> ask(MadRequest request, std::uint16_t lid);

  MadPort& port_;
  const MadTiming& timing_;
  std::uint32_t& transaction_;
  int mads_ = 0;
};

struct PeerAnswer {
  MadOutcome outcome = MadOutcome::kFailed;
  std::optional<PeerSample> peer;
  std::vector<std::string> reasons;  ///< of the gaps
};

/// One round: this port's state; who is at the other end; its port's state; its counters; at most
/// eight MADs. Without an answer to one, what builds on it is not asked. `known` is what earlier
/// rounds found, and is brought up to date.
PeerAnswer ask_peer(MadTalk& talk, std::uint8_t local_port, const MadTiming& timing,
                    KnownPeer& known, SteadyTime now);

/// The counters of `port` at `lid`: one MAD, two where the agent has 64-bit counters. When only the
/// 64-bit ones fail, they are left out, with a reason; an error where they are all there is to
/// take, the error counters among them. Also for this node's own port, at its own LID.
struct CounterAnswer {
  Counters counters;
  std::optional<std::string> reason;
};
Result<CounterAnswer> ask_counters(MadTalk& talk, std::uint16_t lid, std::uint8_t port,
                                   const PerfCapabilities& offered);

}  // namespace linkhealth
