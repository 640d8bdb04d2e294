// A ledger and one port; a test says what is judged of it, and reads what the ledger told.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/ledger.h"

namespace linkhealth {

inline const Fault& kDirty = find_fault("dirty_connector", End::kPath);
inline const Fault& kModule = find_fault("bad_module", End::kLocal);
inline const Fault& kPulled = find_fault("unplugged", End::kPath);
inline const Fault& kAdmin = find_fault("admin_down", End::kLocal);
inline const Fault& kCongested = find_fault("congestion", End::kFabric);

struct Desk {
  std::vector<double> knobs;
  Ledger ledger;
  double t = 0;
  std::string events;

  static std::vector<double> defaults() {
    std::vector<double> values;
    for (const Knob& knob : ledger_knobs()) values.push_back(knob.value);
    return values;
  }
  Desk() : knobs(defaults()), ledger("node", knobs) {}

  static PortVerdict wrong(const Fault& fault, bool down = false, double down_s = 0) {
    PortVerdict verdict;
    verdict.judged = true;
    verdict.down = down;
    verdict.down_s = down_s;
    verdict.primary = PortVerdict::Named{&fault, 0.9, fault.severity};
    return verdict;
  }
  static PortVerdict fine() {
    PortVerdict verdict;
    verdict.judged = true;
    return verdict;
  }
  static WallTime wall(double t) { return WallTime(Milliseconds(1763640000000)) + from_seconds(t); }

  void tell(const PortVerdict& verdict, double seconds) {
    for (const double end = t + seconds; t < end;) {
      t += 10;
      for (const LedgerChange& change :
           ledger.update("pci/1", verdict, steady_from_seconds(t), wall(t)))
        events += std::string(to_string(change.kind)) + ":" + change.entry.kept.fault + " ";
    }
  }
};

}  // namespace linkhealth
