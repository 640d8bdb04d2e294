// The input of the symptoms: one port's history with the statistics that several symptoms share.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/settings.h"
#include "model/history/history.h"
#include "model/snapshot.h"

namespace linkhealth {

enum class Medium : std::uint8_t { kOptical, kAoc, kCopper, kUnknown };

/// A longer loss of carrier is an outage with a cause of its own, not a flap.
inline constexpr double kOutageS = 120;
/// A low supply voltage that lasts for less is a dip: fans starting, power feeds switching (an
/// estimate; verifying a repair takes as long).
inline constexpr double kSupplyDipS = 900;
/// Smallest significant difference of a lane from the median lane: good lanes differ by 0.5 dB
/// (docs/physics.md 7a).
inline constexpr double kLanePenaltyDb = 1.2;
/// Far errors are sustained if this many readings in an hour, and this share of them, have new
/// ones.
inline constexpr double kSustainedReads = 3, kSustainedShare = 0.5;

/// Events that are rare on a good link: how often they were counted in the last hour.
struct Repeated {
  double events = 0;
  double largest = 0;    ///< in one interval
  double intervals = 0;  ///< number of intervals with any
  double recent = 0;     ///< of these, in the last ten minutes
  std::optional<SteadyTime> first, last;
  bool known = false;
  [[nodiscard]] double span_s() const { return first ? in_seconds(*last - *first) : 0; }
  void add(const Interval& interval, Indicator flow, bool is_recent);
};

/// 95 % confidence interval, from the number of errors counted.
struct RatioRange {
  double low = 0, high = 0;
};

/// How long, up to now, counters have been read without any increase while the link was up.
struct Stillness {
  double all_s = 0;      ///< every counter
  double bits_s = 0;     ///< corrected bits and blocks
  double packets_s = 0;  ///< octets in both directions
};

/// The recent error rate and where it occurs. From clean intervals only; while the link is down,
/// from the last ones.
struct SignalStats {
  std::optional<double> ber;             ///< now: median of the last clean intervals
  double ber_window_s = 0;               ///< that these intervals cover
  std::optional<RatioRange> ber_range;   ///< of the true ratio
  double ber_resolution = 0;             ///< half a bit error in one interval
  std::optional<double> ber_baseline;    ///< this link's own
  std::optional<double> ber_limit;       ///< of the FEC mode; nullopt without FEC
  std::optional<double> baseline_limit;  ///< of the FEC mode in which the baseline was learned
  std::array<double, kMaxLanes> lane_ber{};
  std::size_t lanes = 0;
  int worst_lane = -1;  ///< from 0; -1: lanes are unknown
  double worst_lane_ratio = 0;
  /// Smallest loss that would explain its distance from the median lane.
  double worst_lane_penalty_db = 0;
  double lane_limit = 0;
  /// Near the limit and far from its siblings: no baseline is needed.
  bool lane_stands_out = false;
  double lane_own_limit = 0;
  bool lane_rose = false;   ///< far above its own baseline, while its siblings are not
  bool since_ever = false;  ///< the errors are as old as the baseline
  std::size_t intervals_1h = 0;
  Repeated blocks, symbols, frames;  ///< uncorrectable blocks, symbol errors, damaged frames
  Repeated recoveries, card_errors, pcie_damage, module_bus_errors, module_heat;
  Stillness still;
  double far_errors_1h = 0, far_errors_largest = 0;  ///< the largest increase in one reading
  double far_error_reads = 0, far_reads = 0;
  double far_bins_share = 0;  ///< share of ten-minute bins, because readings may be repeated

  [[nodiscard]] double worst_lane_ber() const {
    return lane_ber[static_cast<std::size_t>(worst_lane)];
  }
  [[nodiscard]] bool far_errors_sustained() const {
    return far_error_reads >= kSustainedReads && far_error_share() >= kSustainedShare;
  }
  [[nodiscard]] double far_error_share() const {
    return std::max(far_error_reads / std::max(far_reads, 1.0), far_bins_share);
  }
};

/// Traffic is judged over the last 25 minutes, or over the newest 15 if all of them agree: good
/// links have peaks of up to 300 s, and two of them may occur in succession.
inline constexpr double kTrafficWindowS = 1500, kTrafficRunS = 900;

/// Statistics of the traffic counters over a window, for intervals with carrier.
struct TrafficStats {
  double all = 0;  ///< number of intervals
  double loaded_s = 0;
  double tested_s = 0;  ///< with load or with drops
  double known_s = 0;
  bool idle_now = false;  ///< the latest interval with known load had none
  double marks_share = 0, pause_share = 0, wait_share = 0;  ///< of the intervals with load
  double drops_share = 0;                                   ///< of those with load or with drops
  double retries_share = 0;                                 ///< of two-minute bins
  double marks_per_s = 0, drops_per_s = 0, retries_per_s = 0, forwarded_per_s = 0;
  double forwarded_share = 0;                                         ///< of bins
  double pause_sent_share = 0, stalls_share = 0, discards_share = 0;  ///< of those with load
  bool marks_known = false, pause_known = false, wait_known = false, drops_known = false,
       retries_known = false, forwarded_known = false, pause_sent_known = false,
       stalls_known = false, discards_known = false;
  /// Whether enough of the 25 minutes is known to judge.
  [[nodiscard]] bool full() const { return known_s >= kFullS; }
  static constexpr double kFullS = 1300;
};

/// How much less light there is than normal, and how accurately that is known.
struct LightLossEstimate {
  double loss_db = 0;
  double sigma_db = 0.2;
  int lane = -1;
  /// Smaller losses also occur on good links.
  double least_db = 0;
  /// So far below its siblings that neither a baseline nor errors are needed.
  bool sure_alone = false;
  /// Only a comparison with its own past is this accurate; lanes and modules differ by more.
  [[nodiscard]] bool against_past() const { return sigma_db <= 0.4; }
};

/// The link budget as losses: at each of the four measuring points, for the lane that lost most.
struct LightStats {
  std::optional<LightLossEstimate> rx, tx, far_rx, far_tx;
  std::optional<double> far_tx_same_lane;  ///< loss of the far laser that sends to the lane of `rx`
  std::size_t rx_lanes = 0, rx_dark_lanes = 0;
  std::bitset<kMaxLanes> rx_low;  ///< the lanes that lost light against their own baseline
  bool rx_dark_all = false, rx_dark_some = false, far_rx_dark_all = false;
  /// When the link went down, or when its errors began: older readings do not show why and are
  /// ignored. nullopt: neither.
  std::optional<SteadyTime> since;
  bool rx_fresh = false;   ///< the module was read since then, and after the last transition
  bool far_fresh = false;  ///< so was the far module
  std::optional<double> bias_ratio;
  int bias_lane = -1;
  std::optional<double> worst_rx_dbm;
  int worst_rx_lane = -1;
  double dark_dbm = -20;  ///< below this, a receiver of this kind gets no light
  /// Minimum for a long-reach receiver; nullopt: an ordinary one.
  std::optional<double> enough_dbm;
  std::optional<double> margin_db;  ///< above the module's low alarm
  /// The carrier was lost since the baseline began: the fibre may have been changed.
  bool touched = false;
};

/// What this port has in common with other ports that share something with it. Two functions on one
/// cable are one link and never count as two ports here.
struct GroupStats {
  double same_leaf = 0;      ///< other ports connected to the same known switch
  double fell_together = 0;  ///< of these: went down together with this one and are still down
  // Other ports that went down at the same moment as this one and are still down, by what they
  // share.
  double module_ports = 0, module_fell = 0;  ///< the module
  double card_ports = 0, card_fell = 0;      ///< the card, with other modules
  double node_ports = 0, node_fell = 0;  ///< only the node: they are connected to other switches
  double unknown_fell = 0;               ///< nothing known: a switch or the node
  double flaps_together = 0;  ///< losses of this port at the same moment as another one's
  double flaps_alone = 0;
  std::optional<SteadyTime> first_flap{}, last_flap{};  ///< of flaps_together
  double errors_together = 0;  ///< of same_leaf: errors began within 15 min of this one's
  double leaf_errors = 0;      ///< other ports to the same switch that have errors
  bool card_fatal = false;     ///< another function of this card failed when this port went down
  std::optional<SteadyTime> card_fatal_at{};  ///< when another function of this card failed
  double like_correcting = 0;  ///< other ports of its kind that are up and correct bits
  double like_still = 0;       ///< of its kind, up, and correcting none
  /// Minimum number of bits per second that each of the former corrects.
  double like_least_bits_s = 0;
  double like_running = 0;         ///< of its kind, under load most of the time
  bool shares_module = false;      ///< with another port of this node: a split or twin-port cage
  bool tells_for_cage = false;     ///< … and represents all ports of the cage, as its first port
  double siblings_as_slow = 0;     ///< other ports with the same kind of module and speed
  double siblings_ber = 0;         ///< of these: with a known error ratio
  double siblings_worst_ber = 0;   ///< the highest of these
  double siblings_speed_mbps = 0;  ///< at which two or more with the same module run; 0: none
  std::string siblings_fec{};      ///< of these; "" if unknown or if they differ
  std::string siblings_type{};     ///< of the modules of two or more links of such cards
  bool module_at_fault = false;    ///< according to the driver, for another port of the same module
  double siblings_lanes = 0;       ///< of all others on such cards, at this speed per lane; 0: none
  double siblings_supply_low = 0;  ///< other ports whose module's supply voltage is low now
  double siblings = 0;             ///< other ports whose module reports a temperature
  double siblings_hotter = 0;      ///< of these: risen by 6 C
  double siblings_rise_c = 0;      ///< their median rise, due to the room; never below 0
};

struct Features {
  explicit Features(const PortHistory& history, const DiagnosisSettings& values)
      : port(history), settings(values) {}
  const PortHistory& port;
  const DiagnosisSettings& settings;
  const ExpectedPort* expected = nullptr;
  std::string planned_there;  ///< the other port of this node whose planned far end this port has
  SteadyTime now;
  std::optional<SteadyTime> errors_since;
  /// By the last repair that held; earlier events do not count.
  std::optional<WallTime> repaired_at;
  Medium medium = Medium::kUnknown;
  bool multimode = false;    ///< 50 um fibre, by the module's type
  bool of_provider = false;  ///< a virtual function whose card and cable belong to another machine
  bool up = false, down = false;
  double down_s = 0;               ///< time since it went down
  bool card_stopped = false;       ///< its counters stopped when its card failed (stops_with_card)
  std::optional<bool> supply_low;  ///< of the module, against its limit or its own past
  double supply_low_s = 0;         ///< for how long
  SignalStats signal;
  TrafficStats traffic;      ///< of the whole window
  TrafficStats traffic_run;  ///< of its newest part
  LightStats light;
  GroupStats group;
  [[nodiscard]] const LinkSample& link() const;
  /// Whether the part of the far end that has this age was read since the link changed.
  [[nodiscard]] bool peer_fresh(std::optional<double> PeerSample::*part_age_s) const;
  /// How long it has been down without an administrator, a module change, a driver reload or a
  /// reboot.
  [[nodiscard]] double settled_down_s() const;
  /// How long the supply must be low to count. A dip long after the carrier loss did not cause it.
  [[nodiscard]] double supply_least_s() const;
};

/// `errors_since`: when the present errors began, as remembered by the caller.
Features features_of(const PortHistory& port, const ExpectedPort* expected, SteadyTime now,
                     const DiagnosisSettings& settings,
                     std::optional<SteadyTime> errors_since = std::nullopt);
void fill_traffic(Features& features);
/// Whether this port's counters stopped when its card failed, according to the driver's log lines
/// for this port or another one of the card. `before`: the previous result.
bool stops_with_card(const Features& features, bool before);
void fill_light(Features& features);
/// The lanes of a shared module cannot be attributed to a port. While this port has no errors, what
/// one lane shows may belong to the other port.
bool lanes_may_be_others(const Features& features);
/// Removes conclusions that were drawn from single lanes.
void leave_single_lanes(LightStats& light);

/// By the module's media type; if unknown, by its name: "100G-SR4", "1G-SX", "40G-BiDi".
bool is_multimode(const ModuleSample& module);
/// By its FEC: RS(544) and RS(272) are used with PAM4.
bool is_pam4(const Features& features);
/// In Mb/s, by the module's type: "400G-DR4", "800G-2xDR4" (two ports of 400G); 0: unknown.
double module_speed_mbps(std::string_view type);
/// The speed that the link should have, by the plan, its past or its siblings; otherwise by its
/// module. The link may be slower than its module on purpose: then a fault is only a notice.
struct WantedSpeed {
  double mbps = 0;
  bool by_module = false;
};
WantedSpeed wanted_speed(const Features& features);
/// Whether the module's supply voltage is low; nullopt: unknown.
std::optional<bool> supply_low(const PortHistory& port);
/// HostHold bits that keep the link down; those that were already set while it was up do not.
/// nullopt: unknown.
std::optional<std::uint8_t> held_by_host(const Features& features);
/// The common name of each hold, and how to undo it: {dev} is the interface.
struct HoldText {
  HostHold hold;
  std::string_view what, undo;
};
std::span<const HoldText> hold_texts();
/// The switch at the far end: by its own name, otherwise by the plan; "" unknown.
std::string_view leaf_of(const PortHistory& port, const ExpectedPort* expected);
/// "leaf-12 Ethernet17/1": by its own names, otherwise by the plan; "" unknown.
std::string peer_of(const PortHistory& port, const ExpectedPort* expected);
/// The highest pre-FEC bit error ratio that the mode is designed for (docs/physics.md 3a); nullopt
/// without FEC.
std::optional<double> ber_limit(std::string_view fec, Medium medium);
/// What errors are compared with; 0: no limit is known. A weaker FEC mode makes no errors: of a
/// link that has those of its baseline, the limit of the mode in which that was learned.
double error_limit(const SignalStats& signal);
/// Between what the true number of events lies with 95 % when `counted` were seen (Poisson; Wilson
/// and Hilferty's approximation, right to 1 % from 0 events on).
RatioRange counted_range(double counted);
/// The smallest loss of light, in dB, that raises a bit error ratio from `before` to `after`
/// (docs/physics.md 7b without floor).
double implied_loss_db(double before, double after, bool pam4);
/// When the present errors began: at the first bad interval of those that make up "now". REQUIRES:
/// the link has receive errors.
SteadyTime errors_began(const Features& features);
/// For an even number of values, the lower or the upper one of the two in the middle. REQUIRES: not
/// empty.
double lower_median(std::vector<double> values);
double upper_median(std::vector<double> values);

}  // namespace linkhealth
