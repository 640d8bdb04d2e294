// A ledger and one port: a test gives verdicts and compares the ledger's events.
#pragma once

#include <string>

#include "diagnosis/ledger.h"

namespace linkhealth {

inline const Fault& kDirty = fault_of(FaultId::kDirtyConnector);
inline const Fault& kModule = fault_of(FaultId::kBadModule);
inline const Fault& kPulled = fault_of(FaultId::kUnplugged);
inline const Fault& kAdmin = fault_of(FaultId::kAdminDown);
inline const Fault& kCongested = fault_of(FaultId::kCongestion);

struct LedgerBench {
  DiagnosisSettings settings;
  Ledger ledger{"node", settings};
  double t = 0;
  std::string events;

  LedgerBench() = default;
  /// With an open fault, after 100 s.
  explicit LedgerBench(const Fault& fault) { judge(wrong(fault), 100); }
  static PortVerdict wrong(const Fault& fault, bool down = false, double down_s = 0) {
    PortVerdict verdict;
    verdict.judged = true;
    verdict.down = down;
    verdict.down_s = down_s;
    verdict.primary = PortVerdict::Named{&fault, 0.8, fault.severity};
    return verdict;
  }
  static PortVerdict fine() {
    PortVerdict verdict;
    verdict.judged = true;
    return verdict;
  }
  static WallTime wall(double t) { return WallTime(Milliseconds(1763640000000)) + from_seconds(t); }

  [[nodiscard]] const LedgerFault& kept() const { return ledger.open("pci/1").at(0)->kept; }
  [[nodiscard]] bool nothing_open() const { return ledger.open("pci/1").empty(); }
  /// The same verdict every ten seconds.
  void judge(const PortVerdict& verdict, double seconds) {
    for (const double end = t + seconds; t < end;) {
      t += 10;
      for (const LedgerChange& change :
           ledger.update("pci/1", verdict, steady_from_seconds(t), wall(t)))
        events += std::string(to_string(change.kind)) + ":" + change.entry.kept.fault + " ";
    }
  }
};

}  // namespace linkhealth
