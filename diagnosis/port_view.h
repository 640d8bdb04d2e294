// What the symptoms look at: one port's history with the statistics that several symptoms share,
// computed once.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "model/history.h"
#include "model/knobs.h"
#include "model/snapshot.h"

namespace linkhealth {

enum class Medium : std::uint8_t { kOptical, kAoc, kCopper, kUnknown };

/// What is rare on a good link: how often it came in the last hour.
struct Repeated {
  double events = 0;
  std::size_t intervals = 0;  ///< with any
  std::optional<SteadyTime> first, last;
  bool known = false;
  [[nodiscard]] double span_s() const { return first ? in_seconds(*last - *first) : 0; }
  void take(const Interval& interval, Indicator flow);
};

/// The recent error rate and where it is. Rates over clean intervals only; while the link is down,
/// of the last ones.
struct SignalStats {
  std::optional<double> ber;  ///< now: median of the last clean intervals
  double ber_window_s = 0;    ///< that these intervals cover
  struct Range {
    double low = 0, high = 0;
  };
  std::optional<Range>
      ber_range;  ///< of the true ratio with 95 %, by how many errors were counted in that time
  double ber_resolution = 0;            ///< half a bit error in one of them
  std::optional<double> ber_reference;  ///< this link's own
  std::optional<double> ber_limit;      ///< of the FEC mode; nullopt without FEC
  std::array<double, kMaxLanes> lane_ber{};
  std::size_t lanes = 0;
  int worst_lane = -1;  ///< from 0; -1: lanes are not known
  double worst_lane_ratio = 0;
  double worst_lane_penalty_db =
      0;  ///< the least loss of signal that sets it apart from the median lane
  std::size_t intervals_1h = 0, uncorrectable_intervals_1h = 0, symbol_intervals_1h = 0,
              frame_intervals_1h = 0;
  std::size_t uncorrectable_intervals_10m = 0, symbol_intervals_10m = 0, frame_intervals_10m = 0;
  double symbols_largest = 0;                   ///< of symbols_1h, in one interval
  double frames_largest = 0, frame_span_s = 0;  ///< of frames_1h
  Repeated recoveries, card_errors, pcie_damage, module_bus_errors, module_heat;
  double uncorrectable_1h = 0, symbols_1h = 0, frames_1h = 0, far_errors_1h = 0;
  double far_errors_largest = 0;  ///< of one reading
  std::size_t far_error_reads = 0, far_reads = 0;
  double uncorrectable_span_s = 0, symbol_span_s = 0;
  double lane_limit = 0, lane_penalty_limit_db = 0;
  bool lane_stands_out =
      false;  ///< near its limit, and far from its siblings: no past is needed to see it
  double lane_own_limit = 0;
  bool lane_rose = false;   ///< far above its own past, and its siblings did not
  bool since_ever = false;  ///< errors as old as the reference
  bool uncorrectable_known = false, symbols_known = false, frames_known = false;
};

/// Shares of the newest stretch of time, which is enough where there is no doubt.
struct TrafficRun {
  double known_s = 0, loaded_s = 0;
  double tested_s = 0;  ///< with load or with drops
  double marks_share = 0, pause_share = 0, wait_share = 0, drops_share = 0, retries_share = 0;
  double drops_per_s = 0, retries_per_s = 0;
  bool full = false;  ///< long enough
};

/// What the traffic counters say over the last 25 minutes.
struct TrafficStats {
  TrafficRun run = {};
  std::size_t loaded = 0;  ///< intervals with more than 2 % load
  std::size_t all = 0;
  double loaded_s = 0;
  double tested_s = 0;    ///< with load or with drops
  double known_s = 0;     ///< of the 25 minutes
  bool idle_now = false;  ///< the latest interval of which the load is known had none
  double full_s = 1300;   ///< that must be known to judge
  double marks_share = 0, pause_share = 0, wait_share = 0, drops_share = 0, retries_share = 0;
  double marks_per_s = 0, pause_per_s = 0, wait_ratio = 0, drops_per_s = 0, retries_per_s = 0,
         forwarded_per_s = 0;
  double pause_sent_per_s = 0, forwarded_share = 0, stalls_per_s = 0, discards_per_s = 0;
  double pause_sent_share = 0, stalls_share = 0,
         discards_share = 0;  ///< of the intervals with load
  bool marks_known = false, pause_known = false, wait_known = false, drops_known = false,
       retries_known = false, forwarded_known = false, pause_sent_known = false,
       stalls_known = false, discards_known = false;
};

/// A drop of light against what is normal, with how well it is known.
struct Drop {
  double db = 0;
  double sigma_db = 0.2;
  int lane = -1;
  bool tells_alone = false;  ///< so far below its siblings that it needs neither a past nor errors
  double spread_db = 0;      ///< between this lane and the one that lost least
};

/// The link budget in drops: what each of the four measuring points has lost. The calibration
/// errors of the modules cancel, since each is compared with its own past.
struct LightStats {
  std::optional<Drop> rx, tx, far_rx, far_tx;                ///< of the lane that lost most
  std::optional<double> far_tx_same_lane, far_rx_same_lane;  ///< at the lane of rx, tx
  std::size_t rx_lanes = 0, rx_low_lanes = 0;
  double rx_drop_spread = 0;
  bool rx_dark_all = false, rx_dark_some = false, tx_dark_all = false, far_rx_dark_all = false,
       far_tx_dark_all = false;
  bool rx_fresh = false;   ///< the module was read after the last transition
  bool far_fresh = false;  ///< the far module too
  bool wavelengths_share_fibre = false;
  bool rx_one_wavelength =
      false;  ///< one fibre carries all lanes, and only some of them lost light:
  bool far_rx_one_wavelength = false;  ///< no dirt does that
  std::optional<double> bias_ratio;
  int bias_lane = -1;
  std::optional<double> worst_rx_dbm;
  int worst_rx_lane = -1;
  double dark_dbm =
      -20;  ///< received power below which there is no light, for this kind of receiver
  std::optional<double>
      enough_dbm;  ///< the least that a far-reaching receiver works with; nullopt: an ordinary one
  std::optional<double> margin_db;
  double alone_db = 3;  ///< light lost on the way that needs nothing else to be a fault
  bool touched =
      false;  ///< the carrier went since the powers have a past: perhaps it is another fibre now
};

/// What ports of one node and one far switch do together.
struct GroupStats {
  std::size_t same_leaf = 0;  ///< other ports that go to the same switch
  std::size_t fell_together =
      0;  ///< of them: fell at the same moment as this one and are still down
  std::size_t flaps_together = 0;  ///< losses of this port with another one at the same moment
  std::size_t flaps_alone = 0;
  std::optional<SteadyTime> first_flap{}, last_flap{};  ///< of flaps_together
  std::size_t errors_together = 0;  ///< of them: errors began within 15 min of this one's
  bool card_fatal =
      false;  ///< another function of this card reported a fatal error when this port fell
  std::size_t siblings_as_slow =
      0;                          ///< other ports with the same kind of module and the same speed
  std::size_t siblings_ber = 0;   ///< of them: whose error ratio is known
  double siblings_worst_ber = 0;  ///< the highest of these
  std::size_t leaf_errors = 0;    ///< other ports to the same switch that have errors
  bool shares_module =
      false;  ///< another port of this node has the same one: a split or twin-port cage
  double siblings_speed_mbps = 0;  ///< what two or more others with the same module run at; 0: none
  std::size_t siblings_supply_low = 0;  ///< other ports whose module's supply voltage is low now
  std::size_t siblings = 0,
              siblings_hotter = 0;  ///< other ports whose module gives a temperature; that rose 6 C
  double siblings_rise_c = 0;       ///< their median rise: what the room has of it; never below 0
};

struct PortView {
  explicit PortView(const PortHistory& history) : port(history) {}
  const PortHistory& port;
  const ExpectedPort* expected = nullptr;
  SteadyTime now;
  std::optional<SteadyTime> errors_since;
  Medium medium = Medium::kUnknown;
  bool multimode = false;  ///< glass of 50 um, as the module says
  bool up = false, down = false;
  double down_s = 0;               ///< since when
  std::optional<bool> supply_low;  ///< of the module, against its limit or its own past
  SignalStats signal;
  TrafficStats traffic;
  LightStats light;
  GroupStats group;
  [[nodiscard]] const LinkSample& link() const;
  /// Whether what is known of the far end was read since this link changed: the part of it that has
  /// this age.
  [[nodiscard]] bool peer_fresh(std::optional<double> PeerSample::*part_age_s) const;
  /// Down for so long, with nobody's hand at it.
  [[nodiscard]] double settled_down_s() const;
};

Medium medium_of(const PortHistory& port);
/// By the module's word; where it has none (read by somebody else), by its name: "100G-SR4",
/// "1G-SX", "40G-BiDi".
bool is_multimode(const ModuleSample& module);
/// By its FEC: RS(544) and RS(272) were made for PAM4.
bool is_pam4(const PortView& view);
/// In Mb/s, by the module's type: "400G-DR4", "800G-2xDR4" (two ports of 400G); 0: it does not say.
double module_speed_mbps(std::string_view type);
/// What the link should run at. Where neither the plan nor its past nor its siblings say, the
/// module does: somebody may have wanted it slower, so that is worth a word and no alarm.
struct WantedSpeed {
  double mbps = 0;
  bool by_module = false;
};
WantedSpeed wanted_speed(const PortView& view);
/// Nobody says which lanes of a shared module are this port's. While it has no errors, what one
/// lane shows may be another port's.
bool lanes_may_be_others(const PortView& view);
/// Takes back what was taken from single lanes.
void leave_single_lanes(LightStats& light);
/// `errors_since`: when the present errors began, as the caller remembers it.
PortView view_of(const PortHistory& port, const ExpectedPort* expected, SteadyTime now,
                 KnobValues windows, std::optional<SteadyTime> errors_since = std::nullopt);
/// Whether the module's supply voltage is low; nullopt: it does not say.
std::optional<bool> supply_low(const PortHistory& port, KnobValues windows);
/// Over how long what is judged; what counts as busy.
std::span<const Knob> view_knobs();
/// The switch behind a port: by what it says itself, else by plan; "" when not known.
std::string_view leaf_of(const PortHistory& port, const ExpectedPort* expected);
/// The highest bit error ratio before FEC that the mode is made for (docs/physics.md 3a); nullopt
/// without FEC.
std::optional<double> ber_limit(std::string_view fec, Medium medium);
/// Between what the true number of events lies with 95 % when `counted` were seen (Poisson; Wilson
/// and Hilferty's approximation, right to 1 % from 0 events on).
SignalStats::Range counted_range(double counted);
/// The least loss of light, in dB, that lifts a bit error ratio from `before` to `after`
/// (docs/physics.md 7b without floor).
double implied_drop_db(double before, double after, bool pam4);

}  // namespace linkhealth
