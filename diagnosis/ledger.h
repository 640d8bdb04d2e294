// The life of a fault: open → acknowledged → proving → closed, and reopened. Hold times, flap
// damping, acknowledgement and proof of repair live here and nowhere else. Unknown opens and closes
// nothing; every raise has a reachable clear.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "diagnosis/faults.h"
#include "model/knobs.h"
#include "model/ledger_state.h"
#include "model/port_moves.h"

namespace linkhealth {

std::span<const Knob> ledger_knobs();

/// What the differential says of a port now, in the ledger's words.
struct PortVerdict {
  bool judged =
      false;  ///< false: not enough can be read, or the link fell a moment ago: nothing changes
  bool down = false;
  double down_s = 0;  ///< since the carrier went
  // What the proof of a repair needs to know.
  double rate_bps = 0;      ///< on the line; 0 not known
  std::uint64_t drops = 0;  ///< involuntary carrier losses so far
  bool lost_data = false;   ///< errors that FEC could not correct, since the last look
  std::string module,
      cable;  ///< serial numbers: of the module, of what is between the ports; "" not known
  bool maintenance =
      false;          ///< somebody works on it: nothing opens, worsens or is told as reopened
  double odds = 0;    ///< that something is wrong, against that nothing is
  bool idle = false;  ///< no load now: what only traffic shows can't be seen, and so does not heal
  struct Named {
    const Fault* fault = nullptr;
    double confidence = 0;
    Severity severity = Severity::kWarning;
  };
  std::optional<Named> primary;    ///< what is wrong, if anything
  std::optional<Named> secondary;  ///< and what that does not explain
};

/// A fault as the ledger keeps it.
struct LedgerEntry {
  LedgerFault kept;
  const Fault* fault = nullptr;
  SteadyTime last_seen;
  std::optional<SteadyTime> opened_at;  ///< in this run
  std::optional<SteadyTime> proving_since;
  std::uint64_t drops_at_proof = 0;
  std::optional<SteadyTime> restored_at;  ///< known from an earlier run, and looked at since then
  SteadyTime looked_at;                   ///< the latest verdict of the port
  std::optional<SteadyTime> idle_since;   ///< what only traffic shows waits for load
  Milliseconds waited{0};                 ///< for load, since the proof began
};

struct LedgerChange {
  FaultEventKind kind;
  LedgerEntry entry;
};

class Ledger {
 public:
  Ledger(std::string node, KnobValues knobs);

  /// One port's verdict. The changes come in the order in which they happened.
  std::vector<LedgerChange> update(const std::string& stable_port, const PortVerdict& verdict,
                                   SteadyTime now, WallTime wall);
  /// The entries of a port: primary first. Empty when nothing is open.
  [[nodiscard]] std::vector<const LedgerEntry*> open(const std::string& stable_port) const;
  /// The open primary fault, which has a bonus in the differential.
  [[nodiscard]] const Fault* incumbent(const std::string& stable_port) const;
  /// How often before, on this port and with these parts.
  [[nodiscard]] FaultPast past(const std::string& stable_port) const;
  /// How far the repair has proved itself; nullopt while it does not.
  [[nodiscard]] std::optional<FaultProof> proof(const LedgerEntry& entry) const;
  /// Texts that the report shows while the fault proves itself.
  void describe(const std::string& id, const std::string& summary,
                const std::vector<std::string>& repair, const std::string& verify);
  /// An operator took note of it. nullopt `until`: until it closes. An error when nothing like it
  /// is open.
  Result<LedgerChange> acknowledge(const std::string& stable_port, const std::string& by,
                                   const std::string& reason, std::optional<WallTime> until,
                                   WallTime now);
  /// Takes an acknowledgement back: the fault is told anew. An error when none is in force.
  Result<LedgerChange> withdraw_acknowledgement(const std::string& stable_port, WallTime now);

  /// Nothing is asked of the port any more: what is open there closes, as no repair and not counted
  /// as one that came back.
  std::vector<LedgerChange> release(const std::string& stable_port);

  /// Ports have other stable keys now. What is open keeps its id.
  void follow(const PortMoves& moves);

  [[nodiscard]] LedgerState state() const;
  /// Takes over what an earlier run knew; times become steady at the next update.
  void restore(const LedgerState& state);

 private:
  struct Slot {
    std::optional<LedgerEntry> entry;
    const Fault* candidate = nullptr;  ///< not open yet, or a rival of what is open
    SteadyTime candidate_since;
    SteadyTime wrong_since;  ///< something is wrong since then, by whatever name
    bool wrong = false;
    std::size_t candidate_evaluations = 0;
  };
  struct Port {
    Slot primary, secondary;
    std::string module, cable;
    double rate_bps = 0;
    bool placed = true;  ///< false: restored, steady times not known yet
  };

  void place(Port& port, SteadyTime now, WallTime wall) const;
  void step_slot(Slot& slot, const std::optional<PortVerdict::Named>& named,
                 const PortVerdict& verdict, bool second, const std::string& port, SteadyTime now,
                 WallTime wall, std::vector<LedgerChange>& changes);
  void open_fault(Slot& slot, const PortVerdict::Named& named, const std::string& port,
                  SteadyTime now, WallTime wall, std::vector<LedgerChange>& changes,
                  const LedgerFault* acknowledged = nullptr);
  void rename(Slot& slot, const PortVerdict::Named& named, const std::string& port, SteadyTime now,
              WallTime wall, std::vector<LedgerChange>& changes);
  void refresh(Slot& slot, const PortVerdict::Named& named, bool maintenance, SteadyTime now,
               WallTime wall, std::vector<LedgerChange>& changes) const;
  void step_proof(Slot& slot, const PortVerdict& verdict, const std::string& port, SteadyTime now,
                  WallTime wall, std::vector<LedgerChange>& changes);
  /// Without load nothing is seen of what only traffic shows: its times stand still. False: it has
  /// waited long enough.
  bool waits_for_load(LedgerEntry& entry, bool idle, SteadyTime now) const;
  void close(Slot& slot, const std::string& port, WallTime wall,
             std::vector<LedgerChange>& changes);
  void count(RepeatOf of, const std::string& subject, const LedgerFault& fault, WallTime wall);
  [[nodiscard]] double hold_s(const Fault& fault, const PortVerdict& verdict, bool second) const;
  [[nodiscard]] double proof_s(const Fault& fault, double rate_bps) const;

  std::string node_;
  KnobValues knobs_;
  std::map<std::string, Port> ports_;
  std::map<std::tuple<RepeatOf, std::string, std::string>, LedgerRepeat> repeats_;
};

}  // namespace linkhealth
