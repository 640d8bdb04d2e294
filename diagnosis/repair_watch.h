// Watches one port for the traces of a repair: what changed between the last good look before an
// outage and the first after it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "diagnosis/features.h"
#include "model/repair.h"

namespace linkhealth {

class RepairWatch {
 public:
  /// One look. A record when the link has been back long enough to say what was done and what it
  /// changed. The record's fault and outcome are the ledger's business.
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

  std::optional<Look> before_;    ///< the last look while the link carried and was settled
  std::optional<Outage> outage_;  ///< since the link fell, until it is judged
};

}  // namespace linkhealth
