// Watches one port for traces of a repair: differences between the last good look before an outage
// and the first one after it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "diagnosis/features.h"
#include "model/repair.h"

namespace linkhealth {

class RepairWatch {
 public:
  /// One look. Returns a record once the link has been back for long enough to tell what was done
  /// and what it changed. The ledger adds the record's fault and outcome.
  std::optional<RepairRecord> step(const Features& f, WallTime wall);

 private:
  struct Look {
    std::array<std::optional<double>, kMaxLanes> rx_dbm;
    std::optional<double> ber;
    std::string serial, far_serial;
  };
  struct Outage {
    SteadyTime begun;
    bool module_out = false;
  };
  static Look look(const Features& f);
  void note_outage(const Features& f);
  std::optional<RepairRecord> judge(const Features& f) const;

  std::optional<Look> before_;    ///< the last look while the link was up and settled
  std::optional<Outage> outage_;  ///< from the carrier loss until it is judged
};

}  // namespace linkhealth
