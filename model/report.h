// What the daemon concludes: one immutable value that every exporter formats. The fields are those
// of the report format (docs/recording.md), and more for people and metrics.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/time.h"
#include "model/repair.h"
#include "model/snapshot.h"

namespace linkhealth {

enum class Health : std::uint8_t { kHealthy, kAtRisk, kDegraded, kDown, kUnknown, kExempt };
constexpr auto enum_names(Health) {
  return std::to_array<std::string_view>(
      {"healthy", "at_risk", "degraded", "down", "unknown", "exempt"});
}
/// Where a fault is. kNone only for "healthy".
enum class End : std::uint8_t { kNone, kLocal, kFar, kPath, kNode, kFabric };
constexpr auto enum_names(End) {
  return std::to_array<std::string_view>({"", "local", "far", "path", "node", "fabric"});
}
enum class Severity : std::uint8_t { kNotice, kWarning, kCritical };
constexpr auto enum_names(Severity) {
  return std::to_array<std::string_view>({"notice", "warning", "critical"});
}
enum class FaultState : std::uint8_t { kOpen, kAcknowledged, kProving, kClosed };
constexpr auto enum_names(FaultState) {
  return std::to_array<std::string_view>({"open", "acknowledged", "proving", "closed"});
}
enum class FaultEventKind : std::uint8_t {
  kOpened,
  kWorsened,
  kAcknowledged,
  kProving,
  kClosed,
  kReopened
};
constexpr auto enum_names(FaultEventKind) {
  return std::to_array<std::string_view>(
      {"opened", "worsened", "acknowledged", "proving", "closed", "reopened"});
}

/// One comparison: the observed value, the limit, the place, and the source of the value.
struct Evidence {
  std::string symptom;
  std::optional<double> observed;
  std::string op;  ///< "<", ">", ">=", "=", …: "observed op threshold" holds, except for "="
  std::optional<double> threshold;
  std::string unit;
  std::string where;        ///< "lane 2", "far end"; "" for the port as a whole
  std::string source;       ///< "module", "FEC counters", "leaf-12 (peer)"
  std::string text;         ///< what was compared, in words
  bool supports = true;     ///< false: evidence against the diagnosis, or against another fault
  std::string rules_out{};  ///< of FaultReport::ruled_out: "overheated module"
};

/// A reading that would help to decide, and how to get it.
struct MissingEvidence {
  std::string symptom;
  std::string why;
  std::string how;
  /// The other faults that it would distinguish from this one: "damaged fibre (4%)"; "": it would
  /// only change the confidence.
  std::string decides;
};

struct Candidate {
  std::string fault;
  End end = End::kNone;
  double confidence = 0;
};

/// Faults that the readable sources cannot distinguish from the reported one.
struct Undecided {
  std::string fault;  ///< the likeliest of them
  End end = End::kNone;
  double confidence = 0;
  std::string test;                ///< the cheapest test that distinguishes them
  std::vector<Candidate> names{};  ///< all, including the reported one; most likely first
};

/// The weight of one symptom for the fault against the runner-up: the logarithm of the odds (1: 2.7
/// to 1, 4.6: 100 to 1).
struct EvidenceShare {
  std::string symptom;  ///< or "prior probability of each fault", "light and errors combined"
  double nats = 0;      ///< below 0: favours the runner-up
};
struct EvidenceShares {
  std::string against;  ///< the runner-up: a fault's name, or "healthy"
  End end = End::kNone;
  std::vector<EvidenceShare> shares;  ///< largest first; their sum is the log odds of the two
};

/// Earlier faults of the same port, module or cable.
struct FaultPast {
  std::uint32_t port_times = 0;  ///< faults that were closed on this port
  /// Closed faults with this module (by serial number), on any port.
  std::uint32_t module_times = 0;
  std::uint32_t cable_times = 0;  ///< closed faults with these two modules, or this cable, together
  std::optional<WallTime> last_closed_at;
  [[nodiscard]] bool empty() const {
    return port_times == 0 && module_times == 0 && cable_times == 0;
  }
  bool operator==(const FaultPast&) const = default;
};

/// The verification of a repaired link.
struct FaultProof {
  WallTime since;
  double needed_s = 0;  ///< time without a symptom, a carrier loss or an uncorrectable block
  /// Upper bound of the bit error ratio without any error, 95 % confidence.
  std::optional<double> ber_bound;
  bool operator==(const FaultProof&) const = default;
};

/// An operator's acknowledgement of a fault.
struct Acknowledgement {
  std::string by, reason;
  WallTime at;
  std::optional<WallTime> until;  ///< nullopt: until the fault closes
  bool operator==(const Acknowledgement&) const = default;
};

/// During maintenance the port raises no alert; it is still read, judged and shown.
struct Maintenance {
  std::string port;  ///< stable key; "" for all ports of the node
  std::string by, reason;
  WallTime since;
  std::optional<WallTime> until;       ///< nullopt: while the file exists
  std::string file;                    ///< "" if begun by command
  std::optional<WallTime> ended_at{};  ///< nullopt: still in force
  std::optional<bool> module_reads{};  ///< false: the module's memory is not read during it
  bool operator==(const Maintenance&) const = default;
};

struct FaultReport {
  std::string id;  ///< NODE:STABLE_PORT:FAULT:OPENED, the same after restarts
  /// For a fault that several ports share: all of them, the reporting one first. It is listed in
  /// the faults of each.
  std::vector<PortKey> ports;
  std::string fault;  ///< a fault name of docs/recording.md
  End end = End::kNone;
  Severity severity = Severity::kWarning;
  double confidence = 0;  ///< calibrated: of the faults with 0.8, four in five are right
  FaultState state = FaultState::kOpen;
  WallTime opened_at;
  WallTime last_seen_at;
  std::string summary;  ///< one sentence for a technician
  /// The lanes that have it, from 1, as the evidence names them, the strongest first. Empty: it is
  /// not a fault of single lanes.
  std::vector<std::uint32_t> lanes;
  std::vector<Evidence> evidence;
  std::vector<MissingEvidence> missing;
  std::vector<Evidence> ruled_out;      ///< absent symptoms of other faults (`rules_out`)
  std::vector<Candidate> differential;  ///< most likely first, this fault included
  std::optional<Undecided> undecided;
  std::optional<EvidenceShares> shares;
  std::vector<std::string> repair;  ///< cheapest first, without steps that have failed
  std::string verify;
  std::string to_be_sure;             ///< the one test that would confirm it
  std::vector<RepairRecord> repairs;  ///< attempted repairs, oldest first
  FaultPast past;
  std::optional<FaultProof> proof;              ///< only while the repair is being verified
  std::optional<Acknowledgement> acknowledged;  ///< in force now
};

/// "lane 2", "lanes 2 and 3", in ascending order; "" for none.
std::string format_lanes(std::vector<std::uint32_t> lanes);

/// Whether the fault is counted, alerted and repaired on this port: a shared one only on its first
/// port.
inline bool is_told_on(const FaultReport& fault, const PortKey& port) {
  return fault.ports.empty() || fault.ports.front() == port;
}

/// Statistics of a port, for tables and metrics. nullopt: unknown.
struct PortFigures {
  std::optional<double> pre_fec_ber;  ///< over ber_window_s
  std::optional<double> ber_window_s;
  /// 95 % confidence interval of the ratio.
  std::optional<double> pre_fec_ber_low, pre_fec_ber_high;
  /// Baseline of this link; an interval without an error counts as half a bit. nullopt: too young.
  std::optional<double> pre_fec_ber_normal;
  std::optional<double> worst_rx_power_dbm;    ///< of the lane with the least margin
  std::optional<std::uint32_t> worst_rx_lane;  ///< from 1
  std::optional<double>
      rx_power_margin_db;                   ///< above the module's low alarm, or the medium's limit
  std::optional<double> pre_fec_ber_limit;  ///< of the FEC mode in use
  /// Below this link's baseline, for the lane that lost most: received here and at the far end,
  /// sent by both lasers. Negative: more light than before.
  std::optional<double> rx_power_lost_db, far_rx_power_lost_db, tx_power_lost_db,
      far_tx_power_lost_db;
  std::optional<std::uint32_t> rx_power_lost_lane;  ///< lane of rx_power_lost_db, from 1
  std::optional<double> best_speed_mbps;  ///< highest speed ever seen on this port or in its place
  std::uint64_t involuntary_downs_24h = 0;
  std::uint64_t involuntary_downs_total = 0;  ///< since the monitor started
  std::uint64_t voluntary_downs_total = 0;    ///< by an administrator, a reboot, a driver reload
  /// The involuntary ones as a counter: it never decreases when a loss turns out to be planned.
  std::uint64_t involuntary_downs_told = 0;
  [[nodiscard]] std::uint64_t voluntary_downs_told() const {
    return involuntary_downs_total + voluntary_downs_total - involuntary_downs_told;
  }
  std::optional<WallTime> last_involuntary_down_at;  ///< possibly in an earlier run
  std::optional<SteadyTime> carrier_since;           ///< last change of the carrier
};

/// The result of one row of the symptom table on one port, for `explain --evidence`.
struct SymptomVerdict {
  std::string symptom;
  std::string verdict;  ///< "present", "absent" or "unknown"
  std::string reason;   ///< why unknown
};

/// A slow change that will reach a limit, with 99 % confidence, and soon enough to matter.
struct Trend {
  std::string what;    ///< "rx_power", "tx_bias", "pre_fec_ber", "temperature"
  std::string unit;    ///< of level and limit: "dBm", "mA", "decades" (log10), "C"
  double per_day = 0;  ///< dB, % (of the level), decades, C
  double low_per_day = 0, high_per_day = 0;
  double level = 0, limit = 0;
  double days_left = 0;  ///< until the limit is reached
  double days_left_low = 0, days_left_high = 0;
  double over_days = 0;  ///< duration of the measurement
};

/// Bandwidth that the faults of a port or node cost.
struct Impact {
  double bandwidth_lost_mbps = 0;     ///< not available now
  double bandwidth_at_risk_mbps = 0;  ///< available, on links with a fault
  double share = 0;  ///< the sum of both as a share of the node's expected bandwidth
  std::string rail;  ///< of a port, as configured; else ""
  /// The sum of both as a share of the rail's expected bandwidth.
  std::optional<double> rail_share;
  bool operator==(const Impact&) const = default;
};

struct PortReport {
  PortKey port;
  Health health = Health::kUnknown;
  std::string note;                 ///< information that is not a fault; usually ""
  std::string exempt;               ///< why the port is not monitored; "" when it is
  std::string peer;                 ///< "leaf-12 Ethernet17/1"; "" unknown
  std::vector<FaultReport> faults;  ///< not closed; highest confidence first, then severity
  PortSample latest;                ///< the last known value of each group
  PortFigures figures;
  std::vector<Gap> gaps;  ///< the reasons in latest.sources
  /// What a healthy link is judged by and was not read: "errors", "fec", "optics", "events"; then
  /// also "far_end", if it has no name. Empty: full coverage.
  std::vector<std::string> partial;
  std::vector<std::string> checks;  ///< what to check on a link that is down without a diagnosis
  std::vector<SymptomVerdict> symptoms;
  std::vector<Trend> trends;
  std::optional<Impact> impact;  ///< nullopt: nothing lost or at risk
  std::optional<Maintenance> maintenance;
  ExpectedPort expected;
};

struct Report {
  std::string node;
  WallTime at;
  SteadyTime t;
  std::vector<PortReport> ports;   ///< ordered by key, numbers as numbers (mlx5_2 before mlx5_10)
  std::optional<Impact> impact;    ///< of all ports together
  std::vector<Gap> gaps;           ///< of the whole node
  SourceMap sources;               ///< `gaps` as states; not part of the document
  std::optional<SiteLabels> site;  ///< where the node is, as configured
  std::optional<bool> dry_run;     ///< true: nothing is sent; otherwise left out
  std::vector<ProbeTiming> timings;
};

/// Beginning of the note of a port that the configuration expects although its kind is exempt.
inline constexpr std::string_view kRefusedEntry =
    "the configuration expects this port, but it cannot be monitored";

/// Ports in maintenance without module reads.
std::set<PortKey> modules_left(const Report& report);

/// A change of a fault's state. Delivered at least once to each listener.
struct FaultEvent {
  SteadyTime t;
  WallTime at;
  FaultEventKind kind = FaultEventKind::kOpened;
  PortKey port;
  FaultReport fault;
  std::string rail{};                ///< of the port, as planned
  std::optional<SiteLabels> site{};  ///< where the node is
};
/// FAULT_ID/EVENT/MILLISECONDS: unique, and the same when an event is sent again.
std::string event_id(const FaultEvent& event);

}  // namespace linkhealth
