// What is remembered of each port, in bounded memory: the latest values, increases of counters,
// references, carrier losses with their intent. Knows reboots and who is who. Keyed by
// PortId::stable_key(), so that a rename or a reboot loses nothing; a card that has another PCI
// address, as its GUID shows, takes what is known of it along (model/port_moves.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/carrier_history.h"
#include "model/counter_history.h"
#include "model/device_history.h"
#include "model/knobs.h"
#include "model/module_history.h"
#include "model/port_moves.h"
#include "model/rate_calculator.h"
#include "model/reference_state.h"
#include "model/snapshot.h"

namespace linkhealth {

inline constexpr double kDarkDbm = -40;  ///< what 0 mW prints as

/// What a link of this nominal speed carries, coding included.
double line_rate_bps(double speed_mbps, std::string_view fec);

/// kDarkDbm for 0 mW and less: no light has no logarithm.
double to_dbm(double milliwatt);

/// What the port's hardware counts of the falls of its link.
struct PhyCount {
  CounterId id;
  std::uint64_t count;
  SteadyTime t;
  std::optional<SteadyTime> doubted_since;  ///< what was seen since is more or less
};

/// Failed attempts of one probe since its last success.
struct Blindness {
  SteadyTime since;
  SteadyTime last;
  std::size_t attempts = 0;
  std::string reason;
  bool part = false;     ///< the rest of what the probe reads came: said, and no blindness
  bool of_node = false;  ///< of what is read for all ports at once
};

/// How long an event explains what happens around it, a link is missed, a subnet manager may take,
/// and a card's error counts though it works on.
struct IntentTimes {
  double boot_quiet_s = 300, before_s = 100, after_s = 200;
  double used_s = 7 * 86400.0;
  double manager_s = 120;
  double mended_s = 600;
};
/// The same as knobs, in the order of the fields.
std::span<const Knob> intent_knobs();

class PortHistory {
 public:
  // --- identity and the latest values
  PortKey key;           ///< the label it has now; its stable key while another port has that label
  bool present = true;   ///< in the last snapshot
  bool arrived = false;  ///< it was seen under another stable key: its own (of an awaited one), or
                         ///< of another slot
  bool awaited = false;  ///< expected by configuration and never seen
  std::optional<SteadyTime> absent_since;
  PortSample latest;  ///< the last known value of each group
  std::optional<SteadyTime> link_at, counters_at, module_at, peer_at, pcie_at;
  SteadyTime first_seen;
  std::map<std::string, Blindness> blind;  ///< by probe

  /// Its verbs device was seen then, maybe in an earlier run; nullopt: never.
  std::optional<WallTime> verbs_seen_at;
  CarrierHistory carrier;
  CounterHistory counters;
  ModuleHistory own, far;  ///< the modules at both ends of the cable
  Drifts drifts;
  DeviceHistory device;
  PeerHistory peer;
  BeforeLoss before_loss;

  // --- questions
  /// nullptr: what this probe reads comes, all of it or the most.
  [[nodiscard]] const Blindness* blind_to(std::string_view probe) const;
  /// The link is up, and nothing gets through: for longer than a subnet manager takes none has made
  /// the port ACTIVE.
  [[nodiscard]] bool is_shut_out(SteadyTime now) const;
  /// "optical", "aoc", "dac", "acc" or "unknown"; what the last present module said.
  [[nodiscard]] const std::string& medium() const { return medium_; }
  [[nodiscard]] double line_rate_bps() const;
  /// The FEC mode in force: as the link says it, or, where it says nothing (IPoIB and some drivers
  /// answer no ETHTOOL_FEC) or only "RS", what its lanes can't do without: RS544 from 50 Gb/s a
  /// lane on (PAM4; IEEE 802.3 cl. 134, IBTA HDR); below, RS528 when something was corrected. ""
  /// not known.
  [[nodiscard]] std::string_view fec() const;
  /// What is normal for it, without its key and time.
  [[nodiscard]] PortReferences references() const;

 private:
  friend class History;
  void begin(const PortSample& sample, SteadyTime now);
  void adopt(const PortReferences& kept, SteadyTime now);
  void tell_time(WallTime wall, SteadyTime now) { wall_ = wall, now_ = now; }
  void take_event(const PortEvent& event);
  void take_loss(SteadyTime t, std::uint64_t count);
  void forget_old_losses(SteadyTime now);
  void take_intent(SteadyTime t);
  void note_mated(SteadyTime t);
  void forget_recent_light();
  void excuse(SteadyTime since);
  void excuse(CarrierLoss& loss);
  void excuse_newest(std::uint64_t count);
  void compare_with_phy(const Counters& reading, SteadyTime now);
  void take_phy_count(PhyCount now);
  struct SeenLosses {
    std::uint64_t seen = 0, meant = 0;
  };
  [[nodiscard]] SeenLosses losses_after(SteadyTime t) const;
  [[nodiscard]] bool explains(const PhyCount& before, const PhyCount& now) const;
  void take_link(const LinkSample& link, SteadyTime now);
  void set_carrier(bool up, SteadyTime t);
  void note_fatal(SteadyTime t);
  void forget_absent_module();
  void end_module();
  void recall_peer(const PortReferences& kept, Milliseconds age, SteadyTime now);
  void end_recalled_peer(SteadyTime now);
  void end_old_module(SteadyTime now);
  void end_old_counters(SteadyTime now);
  void forget_fatal();
  void end_fatal();
  /// The card brought something over the cable in `interval`.
  void note_life(const Interval& interval);
  void remember_before_fall();
  void take_counters(const PortSample& sample, SteadyTime now);
  void settle_lanes(const Increase& increase);
  void take_lanes(const std::vector<FecLane>& lanes, SteadyTime now);
  void take_values(const Counters& reading, SteadyTime now);
  void take_held(const Increase& increase);
  [[nodiscard]] Counters hold_back(const Counters& reading);
  void see_counters(const Counters& now);
  void take_gap(const Gap& gap, const Snapshot& snapshot);
  void close_interval(SteadyTime now);
  void take_late(const LateRate& late);
  [[nodiscard]] bool load_is_told() const;
  void learn_ber(const Interval& interval);
  void count_lanes(const std::vector<FecLane>& now, double spans);
  void end_old_lanes(SteadyTime now);
  std::uint64_t take_missed_losses(const Counters& reading, SteadyTime since, SteadyTime now);
  void take_module(const ModuleSample& module, SteadyTime now);
  void note_light_back(SteadyTime now);
  void note_drifts(const ModuleSample& module);
  void take_peer(const PeerSample& sample, SteadyTime now);
  void take_peer_counters(const PeerSample& sample, SteadyTime now);
  void take_pcie(const PcieSample& pcie, SteadyTime now);
  void take_reboot(SteadyTime now);
  void forget_counters();
  void forget_old(SteadyTime now);
  [[nodiscard]] bool intended(SteadyTime t) const;
  [[nodiscard]] bool was_bad_before_fall() const;
  [[nodiscard]] double speed_mbps() const;

  std::string medium_ = "unknown";
  Interval open_;
  bool open_valid_ = false;
  std::vector<FecLane> last_fec_lanes_;
  std::optional<SteadyTime> lanes_at_;
  bool corrects_ = false;  ///< FEC corrected something: it is on
  RateCalculator meter_;
  Counters held_;  ///< what counters fell to, until it is known whether they began anew
  std::vector<FecLane> held_lanes_;
  bool lanes_doubted_ = false;
  SteadyTime held_at_, held_lanes_at_;
  std::optional<SteadyTime> downs_read_at_;  ///< InfiniBand's link_downed
  std::optional<std::uint64_t> last_down_count_, last_up_count_;
  std::optional<PhyCount>
      phy_;  ///< up to which the losses that were seen are those that the PHY counted
  std::optional<PhyCount>
      phy_before_fall_;  ///< the last one before it was lower: a reset, or no answer
  bool answers_ =
      false;  ///< a counter for which the card's firmware is asked was read in the open interval
  std::uint64_t losses_by_event_ = 0;
  std::uint64_t losses_told_ =
      0;  ///< losses at downs_read_at_ that link_downed told: it holds them already
  std::uint64_t losses_ahead_ =
      0;  ///< that link_downed told before the link was seen to have fallen
  std::optional<SteadyTime> intent_until_;
  PeerSample counted_peer_;     ///< the last far end that gave counters: who it is, and they
  bool peer_recalled_ = false;  ///< latest.peer is of before a restart
  bool read_while_down_ = false;
  std::size_t dark_reads_ = 0;  ///< one after the other, on all lanes of a link that carries
  bool powers_are_blank_ =
      false;        ///< zeros on all lanes of a link that carries, and never anything else
  WallTime wall_;   ///< of the snapshot that is being folded in
  SteadyTime now_;  ///< the same
  IntentTimes times_;
};

class History {
 public:
  explicit History(IntentTimes times = {}) : times_(times) {}
  /// Folds a snapshot in. REQUIRES: in the order of taken_at.
  void observe(const Snapshot& snapshot);
  [[nodiscard]] const std::map<std::string, PortHistory>& ports() const { return ports_; }
  [[nodiscard]] const PortHistory* find(const PortKey& key) const;
  [[nodiscard]] SteadyTime now() const { return now_; }
  [[nodiscard]] std::optional<double> uptime_s() const { return uptime_s_; }
  /// Ports that have another stable key since the last snapshot: whoever keeps something by it
  /// follows.
  [[nodiscard]] const PortMoves& moves() const { return moves_; }
  /// A port that configuration asks for. One that is never seen is known as absent from now on,
  /// under its label; when it is seen later under its own stable key, what was awaited counts as
  /// present.
  void await(const PortKey& key);
  /// Nobody expects it any more: an awaited port that never came is forgotten; any other one is not
  /// touched.
  void await_no_more(const std::string& stable);
  /// Somebody works on the port: losses since `since` were intended.
  void excuse(const std::string& stable, SteadyTime since);
  /// What must survive a restart; of ports that were not seen since the last one, too.
  [[nodiscard]] ReferenceState references() const;
  /// Takes over what an earlier run learned. REQUIRES: before the first snapshot.
  void restore(const ReferenceState& state);

 private:
  void adopt(const std::string& stable, PortHistory& port);
  void recall(const PortKey& label);
  [[nodiscard]] bool is_forgettable(const PortHistory& port) const;
  [[nodiscard]] bool was_used(const PortReferences& kept) const;
  void follow_cards(const Snapshot& snapshot);
  void meet_ports(const Snapshot& snapshot);
  [[nodiscard]] bool is_as_before(const PortKey& key, const PortSample& sample) const;
  [[nodiscard]] std::string stable_of(const PortKey& key, const PortSample& sample) const;
  [[nodiscard]] std::map<std::string, std::string> known_names() const;
  [[nodiscard]] std::string stable_of_label(const PortKey& key) const;
  void part_names(const Snapshot& snapshot);
  void take_samples(const Snapshot& snapshot);
  void take_gaps(const Snapshot& snapshot);
  void end_node_gap(const std::string& probe);

  std::map<std::string, PortHistory> ports_;  ///< by stable key
  std::map<PortKey, std::string> labels_;
  std::map<std::string, PortReferences> kept_;  ///< of an earlier run, until the port is seen
  PortMoves moves_;                             ///< with the last snapshot
  IntentTimes times_;
  SteadyTime now_;
  WallTime wall_;
  std::optional<double> uptime_s_;
};

/// FEC modes that correct by themselves; "" and "Off" do not.
bool fec_is_on(std::string_view fec);

}  // namespace linkhealth
