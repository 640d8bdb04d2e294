// What was tried on which port, and whether it held. A repair held if the fault closes after it. It
// failed if the fault still shows (or shows again) some time after the link came back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/history/port_moves.h"
#include "model/ledger_state.h"
#include "model/repair.h"

namespace linkhealth {

class RepairBook {
 public:
  void add(RepairRecord record);
  /// Reports that the fault with this id shows now.
  void seen(const std::string& port, const std::string& fault_id, WallTime now);
  /// Reports that the fault with this id has been verified as repaired.
  void healed(const std::string& port, const std::string& fault_id);

  /// What was tried on this fault, oldest first.
  [[nodiscard]] std::vector<RepairRecord> of(const std::string& port,
                                             const std::string& fault_id) const;
  /// The actions that did not help this fault.
  [[nodiscard]] std::vector<RepairAction> failed(const std::string& port,
                                                 const std::string& fault_id) const;

  /// When the link came back after the last repair of this port that held.
  [[nodiscard]] std::optional<WallTime> last_held(const std::string& port) const;

  /// Applies changed stable keys.
  void follow(const PortMoves& moves);

  [[nodiscard]] std::vector<RepairRecord> state() const;
  void restore(const std::vector<RepairRecord>& records);

 private:
  std::map<std::string, std::vector<RepairRecord>> records_;  ///< by port, oldest first
};

}  // namespace linkhealth
