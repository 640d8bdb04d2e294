// A port's past from the history database: its signals in steps, the events of its faults, repairs,
// and modules. Read from storage/history/history_store.h, shown by exporters/json/timeline_json.h
// and timeline_text.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/repair.h"
#include "model/report.h"
#include "model/signals.h"

namespace linkhealth {

/// Where a module or cable was, and when.
struct KeptIdentity {
  std::string serial;
  std::string end;    ///< "local" or "far"
  std::string port;   ///< this node's port, stable key
  std::string place;  ///< the port's name here, or the far system and port
  std::string vendor, part_number, kind;
  WallTime first_seen_at, last_seen_at;
  bool operator==(const KeptIdentity&) const = default;
};

struct SignalSeries {
  Signal signal = Signal::kCarrierUp;
  std::vector<double> values;  ///< one for each step; NaN: unknown
};

struct PortTimeline {
  PortKey port;
  WallTime from, to;
  std::uint32_t step_s = 10;
  std::vector<WallTime> at;              ///< start of each step, without gaps
  std::vector<SignalSeries> signals;     ///< those with a value, in the table's order
  std::vector<FaultEvent> events;        ///< oldest first
  std::vector<RepairRecord> repairs;     ///< oldest first
  std::vector<Maintenance> maintenance;  ///< of all ports, oldest first
  std::vector<KeptIdentity> identities;  ///< most recently seen first
  [[nodiscard]] const SignalSeries* find(Signal signal) const {
    for (const SignalSeries& series : signals)
      if (series.signal == signal) return &series;
    return nullptr;
  }
};

}  // namespace linkhealth
