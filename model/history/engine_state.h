// What the engine knows besides the last readings: open faults, baselines, settings.
#pragma once

#include <map>
#include <string>

#include "model/history/reference_state.h"
#include "model/ledger_state.h"

namespace linkhealth {

struct EngineState {
  LedgerState ledger;
  ReferenceState references;
  std::map<std::string, double>
      settings;  ///< "ledger.quiet_s": those that differ from their defaults
  bool operator==(const EngineState&) const = default;
};

}  // namespace linkhealth
