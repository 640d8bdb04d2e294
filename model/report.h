// What the daemon concludes: one immutable value that every exporter turns into bytes. The fields
// are those of the report format (docs/recording.md), with what people and metrics need beside
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/repair.h"
#include "model/snapshot.h"

namespace linkhealth {

enum class Health : std::uint8_t { kHealthy, kAtRisk, kDegraded, kDown, kUnknown, kExempt };
/// Where a fault is. kNone only for "healthy".
enum class End : std::uint8_t { kNone, kLocal, kFar, kPath, kNode, kFabric };
enum class Severity : std::uint8_t { kNotice, kWarning, kCritical };
enum class FaultState : std::uint8_t { kOpen, kAcknowledged, kProving, kClosed };
enum class FaultEventKind : std::uint8_t {
  kOpened,
  kWorsened,
  kAcknowledged,
  kProving,
  kClosed,
  kReopened
};

/// The formats' words: "at_risk", "local", "warning", "proving", "opened".
std::string_view to_string(Health health);
std::string_view to_string(End end);
std::string_view to_string(Severity severity);
std::string_view to_string(FaultState state);
std::string_view to_string(FaultEventKind kind);
std::optional<End> parse_end(std::string_view text);

/// One comparison that was made: what was seen, against what, where, and by whom it was read.
struct Evidence {
  std::string symptom;
  std::optional<double> observed;
  std::string op;  ///< "<", ">", ">=", "=", …
  std::optional<double> threshold;
  std::string unit;
  std::string where;     ///< "lane 2", "far end"; "" for the port as a whole
  std::string source;    ///< "module", "FEC counters", "leaf-12 (peer)"
  std::string text;      ///< a sentence for people where numbers don't say it
  bool supports = true;  ///< false: it speaks against the diagnosis
};

/// A reading that would help to decide, and how to get it.
struct MissingEvidence {
  std::string symptom;
  std::string why;
  std::string how;
  std::string decides;  ///< which other faults it would tell from this one: "damaged fibre (4%)";
                        ///< "" how sure this one is
};

struct Candidate {
  std::string fault;
  End end = End::kNone;
  double confidence = 0;
};

/// What can be read leaves the fault and this one side by side.
struct Undecided {
  std::string fault;
  End end = End::kNone;
  double confidence = 0;
  std::string test;  ///< the cheapest thing to do that would tell them apart
};

/// What one symptom says for the fault against the runner-up: the logarithm of the odds (1: 2.7 to
/// 1, 4.6: 100 to 1).
struct EvidenceShare {
  std::string symptom;  ///< or "before anything is seen", "light and errors"
  double nats = 0;      ///< below 0: it speaks for the other
};
struct EvidenceShares {
  std::string against;  ///< the other: a fault's name, or "healthy"
  End end = End::kNone;
  std::vector<EvidenceShare>
      shares;  ///< the weightiest first; their sum is all that sets the two apart
};

/// How often something like it was here before.
struct FaultPast {
  std::uint32_t port_times = 0;    ///< faults that were closed on this port
  std::uint32_t module_times = 0;  ///< with this module (by its serial number), on whichever port
  std::uint32_t cable_times = 0;   ///< with these two modules, or this cable, together
  std::optional<WallTime> last_closed_at;
  [[nodiscard]] bool empty() const {
    return port_times == 0 && module_times == 0 && cable_times == 0;
  }
  bool operator==(const FaultPast&) const = default;
};

/// How far a repaired link has proved itself.
struct FaultProof {
  WallTime since;
  double needed_s = 0;  ///< without a symptom, a loss of carrier or an error that FEC can't correct
  std::optional<double>
      ber_bound;  ///< what no error in that time says of the bit error ratio, with 95 %
  bool operator==(const FaultProof&) const = default;
};

/// Somebody took note of a fault.
struct Acknowledgement {
  std::string by, reason;
  WallTime at;
  std::optional<WallTime> until;  ///< nullopt: until the fault closes
  bool operator==(const Acknowledgement&) const = default;
};

/// While it lasts nothing is raised for the port; all is still seen, judged and shown.
struct Maintenance {
  std::string port;  ///< stable key; "" for all ports of the node
  std::string by, reason;
  WallTime since;
  std::optional<WallTime> until;       ///< nullopt: until it is ended (only by file)
  std::string file;                    ///< that says so; "" for one that was begun by command
  std::optional<WallTime> ended_at{};  ///< when it was over; nullopt: it lasts
  std::optional<bool> module_reads{};  ///< false: the module's memory is left alone meanwhile
  bool operator==(const Maintenance&) const = default;
};

struct FaultReport {
  std::string id;     ///< NODE:STABLE_PORT:FAULT:OPENED, the same over restarts
  std::string fault;  ///< a name of docs/recording.md
  End end = End::kNone;
  Severity severity = Severity::kWarning;
  double confidence = 0;  ///< calibrated: of those given with 0.8, four in five are right
  FaultState state = FaultState::kOpen;
  WallTime opened_at;
  WallTime last_seen_at;
  std::string summary;  ///< one sentence for a technician
  std::vector<Evidence> evidence;
  std::vector<MissingEvidence> missing;
  std::vector<Evidence>
      ruled_out;  ///< what does not show, and another fault would show: `text` says which
  std::vector<Candidate> differential;  ///< most likely first, the fault itself included
  std::optional<Undecided>
      undecided;  ///< another fault that cannot be told from it with what can be read
  std::optional<EvidenceShares> shares;  ///< what each symptom gave, against the runner-up
  std::vector<std::string> repair;       ///< cheapest first; what has failed already is left out
  std::string verify;
  std::string to_be_sure;             ///< the one test that would decide
  std::vector<RepairRecord> repairs;  ///< what was tried on it, oldest first
  FaultPast past;
  std::optional<FaultProof> proof;              ///< only while it proves itself
  std::optional<Acknowledgement> acknowledged;  ///< in force now
};

/// Numbers about a port that are judged over time, for tables and metrics. nullopt: not known.
struct PortFigures {
  std::optional<double> pre_fec_ber;  ///< over ber_window_s
  std::optional<double> ber_window_s;
  /// What so many counted errors say of the true ratio, with 95 %.
  std::optional<double> pre_fec_ber_low, pre_fec_ber_high;
  /// What is normal for this link, from its own past; an interval without an error counts as half a
  /// bit. nullopt: too little past.
  std::optional<double> pre_fec_ber_normal;
  std::optional<double> worst_rx_power_dbm;    ///< of the lane with the least margin
  std::optional<std::uint32_t> worst_rx_lane;  ///< from 1
  std::optional<double>
      rx_power_margin_db;                   ///< above the module's low alarm, or the medium's limit
  std::optional<double> pre_fec_ber_limit;  ///< what the FEC mode in use is made for
  /// How much less than in this link's own past: what arrives here and at the far end, what both
  /// lasers send. Of the lane that lost most; below 0: more than before.
  std::optional<double> rx_power_lost_db, far_rx_power_lost_db, tx_power_lost_db,
      far_tx_power_lost_db;
  std::uint64_t involuntary_downs_24h = 0;
  std::uint64_t involuntary_downs_total = 0;  ///< since the monitor started
  std::uint64_t voluntary_downs_total = 0;    ///< by an administrator, a reboot, a driver reload
  /// The first of them as a counter: it never goes down when a loss turns out to have been meant.
  std::uint64_t involuntary_downs_told = 0;
  [[nodiscard]] std::uint64_t voluntary_downs_told() const {
    return involuntary_downs_total + voluntary_downs_total - involuntary_downs_told;
  }
  std::optional<WallTime> last_involuntary_down_at;  ///< maybe before the monitor started
  std::optional<SteadyTime> carrier_since;           ///< last change of the carrier
};

/// The symptom table's verdicts on one port, for `explain --evidence`.
struct SymptomVerdict {
  std::string symptom;
  std::string verdict;  ///< "present", "absent" or "unknown"
  std::string reason;   ///< why unknown
};

/// A slow change that reaches a limit: sure (99 % that it is one), and in time to do something.
struct Trend {
  std::string what;    ///< "rx_power", "tx_bias", "pre_fec_ber", "temperature"
  std::string unit;    ///< of level and limit: "dBm", "mA", "decades" (log10), "C"
  double per_day = 0;  ///< dB, % (of the level), decades, C
  double low_per_day = 0, high_per_day = 0;
  double level = 0, limit = 0;
  double days_left = 0;  ///< until the limit
  double days_left_low = 0, days_left_high = 0;
  double over_days = 0;  ///< what it was measured over
};

/// What a port's or a node's faults cost.
struct Impact {
  double bandwidth_lost_mbps = 0;     ///< not there now
  double bandwidth_at_risk_mbps = 0;  ///< there, on links with a fault of their own
  double share = 0;                   ///< both together, of the bandwidth that the node should have
  std::string rail;                   ///< of a port, as configured; "" where nobody says
  std::optional<double> rail_share;   ///< both together, of what the node should have on this rail
  bool operator==(const Impact&) const = default;
};

struct PortReport {
  PortKey port;
  Health health = Health::kUnknown;
  std::string note;    ///< what people should know that is no fault; "" mostly
  std::string exempt;  ///< why nothing is expected of this port; "" when something is
  std::string peer;    ///< "leaf-12 Ethernet17/1"; "" when not known
  std::vector<FaultReport>
      faults;         ///< highest confidence first, then severity; closed ones are not here
  PortSample latest;  ///< the last known value of each group
  PortFigures figures;
  std::vector<Gap> gaps;  ///< what could not be read, and why: of latest.sources
  std::vector<SymptomVerdict> symptoms;
  std::vector<Trend> trends;
  std::optional<Impact> impact;  ///< nullopt: nothing lost, nothing at risk
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
  SourceMap sources;               ///< the same as states; not part of the document
  std::optional<SiteLabels> site;  ///< where the node is; left out where configuration says nothing
  std::optional<bool> dry_run;  ///< true: all is judged and shown, nothing is sent; else left out
  std::vector<ProbeTiming> timings;
};

/// Ports whose module somebody who works there wants left alone.
std::set<PortKey> modules_left(const Report& report);

/// Something that happened to a fault. Sent at least once to those who listen.
struct FaultEvent {
  SteadyTime t;
  WallTime at;
  FaultEventKind kind = FaultEventKind::kOpened;
  PortKey port;
  FaultReport fault;
  std::string rail{};                ///< of the port, as planned
  std::optional<SiteLabels> site{};  ///< where the node is
};
/// FAULT_ID/EVENT/MILLISECONDS: unique, and the same for an event that is sent again.
std::string event_id(const FaultEvent& event);

}  // namespace linkhealth
