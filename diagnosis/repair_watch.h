// Watches one port for the traces of a repair: what changed between the last good look before an
// outage and the first after it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "diagnosis/port_view.h"
#include "model/knobs.h"
#include "model/repair.h"

namespace linkhealth {

class RepairWatch {
 public:
  /// One look. A record when the link has been back long enough to say what was done and what it
  /// changed. The record's fault and outcome are the ledger's business.
  std::optional<RepairRecord> step(const PortView& view, WallTime wall, KnobValues knobs);
  static std::span<const Knob> knobs();

 private:
  struct Look {
    std::array<std::optional<double>, kMaxLanes> rx_dbm;
    std::optional<double> ber;
    std::string serial, far_serial;
  };
  struct Outage {
    SteadyTime begun;
    bool module_out = false;
    bool dark = false;
  };
  static Look look(const PortView& view);
  void note_outage(const PortView& view);
  std::optional<RepairRecord> judge(const PortView& view, WallTime wall, KnobValues knobs) const;

  std::optional<Look> before_;    ///< the last look while the link carried and was settled
  std::optional<Outage> outage_;  ///< since the link fell, until it is judged
};

}  // namespace linkhealth
