// The life cycle of a fault: open → acknowledged → proving → closed, and reopened, with hold times,
// flap damping and verification of repairs. An unknown verdict opens and closes nothing; every
// fault that opens can also close.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "diagnosis/faults.h"
#include "diagnosis/settings.h"
#include "model/history/port_moves.h"
#include "model/ledger_state.h"

namespace linkhealth {

/// The result of the differential for a port.
struct PortVerdict {
  struct Named {
    const Fault* fault = nullptr;
    double confidence = 0;
    Severity severity = Severity::kWarning;
  };
  /// false: too little can be read, or the link has only just gone down: nothing changes.
  bool judged = false;
  bool down = false;
  double down_s = 0;                   ///< since the carrier loss
  double rate_bps = 0;                 ///< line rate; 0 unknown
  std::uint64_t link_down_events = 0;  ///< unplanned ones so far
  bool lost_data = false;              ///< errors that FEC could not correct, since the last step
  std::string module,
      cable;                   ///< serial numbers; the cable is what connects the ports; "" unknown
  bool maintenance = false;    ///< nothing opens, worsens or is reported as reopened
  double odds = 0;             ///< that something is wrong rather than nothing
  double open_confidence = 0;  ///< of the open primary fault, by the current evidence
  bool repaired = false;       ///< a repair was attempted on the open primary fault
  bool module_out = false;     ///< possibly because it is being swapped
  bool quiet_since = false;  ///< and since then the link has been up without errors or another loss
  bool idle = false;         ///< no load now: faults that only traffic shows neither show nor heal
  std::optional<Named> primary;    ///< what is wrong, if anything
  std::optional<Named> secondary;  ///< and what the primary does not explain
  std::vector<std::string> ports;  ///< all ports that share the fault, this one first; or empty
};

/// A fault in the ledger.
struct LedgerEntry {
  LedgerFault kept;
  const Fault* fault = nullptr;
  SteadyTime last_seen;
  std::optional<SteadyTime> opened_at;  ///< in this run
  std::optional<SteadyTime> proving_since;
  std::uint64_t downs_at_proof = 0;
  std::optional<SteadyTime> restored_at;  ///< restored from an earlier run, and judged again since
  SteadyTime looked_at;                   ///< the latest verdict of the port
  /// Since when a fault that only traffic shows has waited for load.
  std::optional<SteadyTime> idle_since;
  Milliseconds waited{0};      ///< time without load since verifying began
  double returns_after_s = 0;  ///< it was closed, and came back after this long without symptoms
};

struct LedgerChange {
  FaultEventKind kind;
  LedgerEntry entry;
};

class Ledger {
 public:
  /// `settings` may change between two updates, and must outlive the ledger.
  Ledger(std::string node, const DiagnosisSettings& settings);

  /// Adds one port's verdict. The changes are returned in chronological order.
  std::vector<LedgerChange> update(const std::string& stable_port, const PortVerdict& verdict,
                                   SteadyTime now, WallTime wall);
  /// The entries of a port, primary first. Empty if nothing is open.
  [[nodiscard]] std::vector<const LedgerEntry*> open(const std::string& stable_port) const;
  /// The open primary fault, which gets a bonus in the differential.
  [[nodiscard]] const Fault* incumbent(const std::string& stable_port) const;
  /// Earlier faults on this port and with these parts.
  [[nodiscard]] FaultPast past(const std::string& stable_port) const;
  /// The progress of verifying; nullopt if not verifying.
  [[nodiscard]] std::optional<FaultProof> proof(const LedgerEntry& entry) const;
  /// Texts that the report shows while the fault is being verified.
  void describe(const std::string& id, const std::string& summary,
                const std::vector<std::string>& repair, const std::string& verify);
  /// `until` nullopt: until it closes. An error if no such fault is open.
  Result<LedgerChange> acknowledge(const std::string& stable_port, const std::string& by,
                                   const std::string& reason, std::optional<WallTime> until,
                                   WallTime now);
  /// The fault is reported as reopened. An error when no acknowledgement is in force.
  Result<LedgerChange> withdraw_acknowledgement(const std::string& stable_port, WallTime now);
  /// The port is no longer monitored: its open faults close, without counting as repaired or as a
  /// repeat.
  std::vector<LedgerChange> release(const std::string& stable_port);
  /// Applies changed stable keys. Open faults keep their ids.
  void follow(const PortMoves& moves);

  [[nodiscard]] LedgerState state() const;
  /// Restores an earlier run's state; times are converted to steady ones at the next update.
  void restore(const LedgerState& state);

 private:
  struct Slot {
    std::optional<LedgerEntry> entry;
    const Fault* candidate = nullptr;  ///< not yet open, or competing with the open fault
    SteadyTime candidate_since;
    std::size_t candidate_evaluations = 0;
    std::optional<SteadyTime> wrong_since;  ///< since when something has been wrong, under any name
  };
  struct Closed {
    LedgerEntry entry;
    SteadyTime at;
  };
  struct Port {
    Slot primary, secondary;
    std::map<const Fault*, Closed> closed;  ///< the last of each kind, kept for a while
    std::map<const Fault*, std::int64_t> last_opened_s;  ///< used in the ids; wall clock
    std::string module, cable;
    double rate_bps = 0;
    bool placed = true;  ///< false: restored, steady times not known yet
  };
  /// One update of one port.
  struct Step {
    const std::string& key;
    Port& port;
    const PortVerdict& verdict;
    SteadyTime now;
    WallTime wall;
    std::vector<LedgerChange> changes{};
    void report(FaultEventKind kind, const LedgerEntry& entry) { changes.push_back({kind, entry}); }
  };

  static void place(Step& step);
  void step_slot(Step& step, Slot& slot, const std::optional<PortVerdict::Named>& named);
  [[nodiscard]] std::string new_id(const Step& step, const Fault& fault) const;
  void open_fault(Step& step, Slot& slot, const PortVerdict::Named& named) const;
  void rename(Step& step, Slot& slot, const PortVerdict::Named& named);
  static void refresh(Step& step, LedgerEntry& entry, const PortVerdict::Named& named);
  void step_proof(Step& step, Slot& slot);
  bool waits_for_load(const Step& step, LedgerEntry& entry) const;
  void close(Step& step, Slot& slot);
  void count_repeat(const Step& step, const LedgerEntry& entry);
  void count(RepeatOf of, const std::string& subject, const LedgerFault& fault, WallTime wall);
  [[nodiscard]] double hold_s(const Step& step, const Slot& slot, const Fault& fault) const;
  [[nodiscard]] double proof_s(const Fault& fault, double rate_bps) const;
  /// The primary entry of a port; nullptr if nothing is open.
  [[nodiscard]] LedgerEntry* primary_of(const std::string& stable_port);
  template <typename Do>
  void for_each_entry(Do action);

  std::string node_;
  const DiagnosisSettings& settings_;
  std::map<std::string, Port> ports_;
  std::map<std::tuple<RepeatOf, std::string, std::string>, LedgerRepeat> repeats_;
};

}  // namespace linkhealth
