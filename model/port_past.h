// What is remembered of a port: its signals in steps, what happened to its faults, repairs, and the
// modules that were there. Made by storage/memory.h, drawn by exporters/past_json.h and
// past_text.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/repair.h"
#include "model/report.h"
#include "model/signals.h"

namespace linkhealth {

/// A fault event as it is kept.
struct KeptEvent {
  std::string id;    ///< event_id(): the same whenever it is sent
  std::string port;  ///< stable key
  WallTime at;
  std::string event;  ///< "opened", …
  std::string fault;
  std::string fault_id;
  std::string end;       ///< "path", …
  std::string severity;  ///< "warning", …
  double confidence = 0;
  std::string summary;
  std::string document;  ///< the whole event as JSON (docs/schema/event.json)
  bool operator==(const KeptEvent&) const = default;
};

/// FAULT_ID/EVENT/MILLISECONDS: no two events have the same, and one that is sent again has the
/// same.
std::string event_id(const FaultEvent& event);
/// `document` is what event_json_line() gives.
KeptEvent kept_event(const FaultEvent& event, std::string port, std::string document);

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
  std::vector<double> values;  ///< one for each step; NaN: nothing was seen
};

struct PortPast {
  PortKey port;
  WallTime from, to;
  std::uint32_t step_s = 10;
  std::vector<WallTime> at;           ///< when each step begins, without a hole
  std::vector<SignalSeries> signals;  ///< those that were seen at all, in the table's order
  std::vector<KeptEvent> events;      ///< oldest first
  std::vector<RepairRecord> repairs;  ///< oldest first
  std::vector<Maintenance>
      maintenance;  ///< oldest first; from the memory of all ports: names are not the memory's
  std::vector<KeptIdentity> identities;  ///< seen last first
  std::size_t damaged_rows = 0;          ///< left out
  [[nodiscard]] const SignalSeries* find(Signal signal) const {
    for (const SignalSeries& series : signals)
      if (series.signal == signal) return &series;
    return nullptr;
  }
};

}  // namespace linkhealth
