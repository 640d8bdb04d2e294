// When which port's far end is asked by MAD. Pure: the time comes from outside.
//
// A leaf switch is asked by every node below it, and all nodes start together after a power cut. So
// each port has its own place in the period, from a hash of its GUID; the rounds of one node keep a
// distance that its budget gives; and a far end that does not answer is asked less and less often.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

struct MadTiming {
  Milliseconds period{60'000};         ///< between two rounds on a port; at least a second is taken
  Milliseconds first_within{10'000};   ///< from the start to a port's first round; 0: at once
  Milliseconds longest_wait{600'000};  ///< the end of the doubling for one that does not answer
  Milliseconds identity_period{
      3'600'000};             ///< how often a far end that stays is asked again what it is called
  Milliseconds timeout{200};  ///< for one try
  int tries = 2;
  int mads_per_s = 20;  ///< of this node, on average over a round; 0: as fast as they are answered
};

/// The place of `identity` (a GUID and port) in a period: 0 <= phase < period, the same on every
/// start, evenly spread.
Milliseconds mad_phase(std::string_view identity, Milliseconds period);

enum class MadOutcome : std::uint8_t {
  kAnswered,
  kLinkDown,  ///< nothing was asked of the far end: not its failure
  kFailed,    ///< no answer, or no way to ask
};

class MadSchedule {
 public:
  explicit MadSchedule(MadTiming timing);

  struct Port {
    PortKey key;
    std::string identity;  ///< what the phase is made of
  };
  /// The ports there are now. Those that stay keep their times.
  void set_ports(const std::vector<Port>& ports, SteadyTime now);
  /// The port to ask now: the one that has waited longest; nullptr when none is due or the budget
  /// is used up.
  [[nodiscard]] const PortKey* next(SteadyTime now) const;
  /// How the round on `key` went, and how many MADs it took.
  void done(const PortKey& key, MadOutcome outcome, int mads, SteadyTime now);
  /// When next() has something; a period from `now` when there is no port.
  [[nodiscard]] SteadyTime next_due(SteadyTime now) const;

 private:
  struct Entry {
    Port port;
    SteadyTime due;
    int failures = 0;  ///< in a row
  };
  [[nodiscard]] SteadyTime slot_after(const Entry& entry, SteadyTime earliest) const;

  MadTiming timing_;
  std::vector<Entry> entries_;
  SteadyTime budget_from_;
};

}  // namespace linkhealth
