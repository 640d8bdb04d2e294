// The history of each port, in bounded memory. Keyed by PortId::stable_key(), so that it survives
// renames and reboots. When a card moves to another PCI address, as its GUID shows, its history
// moves with it (model/history/port_moves.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/history/carrier_history.h"
#include "model/history/counter_history.h"
#include "model/history/device_history.h"
#include "model/history/module_history.h"
#include "model/history/peer_history.h"
#include "model/history/port_moves.h"
#include "model/history/rate_calculator.h"
#include "model/history/reference_state.h"
#include "model/history/training_history.h"
#include "model/setting_table.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The state of the link before its last carrier loss.
struct BeforeLoss {
  std::optional<double> ber;
  double uncorrectable = 0;
  /// Of the interval in which it went down: the time in which no codeword was right.
  double all_lost_s = 0;
  std::optional<double> rx_lost_db;     ///< of the lane that lost most light
  std::optional<double> temperature_c;  ///< of the module, at its last reading
};

/// IntentTimes as settings, in the order of the fields.
std::span<const Setting> intent_settings();

class PortHistory {
 public:
  PortKey key;          ///< its current label; its stable key while another port has that label
  bool present = true;  ///< in the last snapshot
  /// Also seen under another stable key: an expected port that has appeared, or a card in another
  /// slot.
  bool seen_elsewhere = false;
  bool never_seen = false;  ///< expected by configuration, never seen
  std::optional<SteadyTime> absent_since;
  PortSample latest;        ///< the last known value of each group
  bool cage_empty = false;  ///< from the last successful reading: a failed one does not change it
  /// Set if the driver returned the module of another cage.
  std::optional<SourceStatus> module_doubt{};
  bool had_module = false;  ///< in its cage, since the monitor started
  std::optional<SteadyTime> link_at, counters_at, peer_at, pcie_at;
  SteadyTime first_seen;
  /// When its verbs device was last seen, maybe in an earlier run; nullopt: never.
  std::optional<WallTime> verbs_seen_at;

  CarrierHistory carrier;
  CounterHistory counters;
  ModuleHistory own, far;  ///< the modules at both ends of the cable
  Drifts drifts;
  DeviceHistory device;
  PeerHistory peer;
  BeforeLoss before_loss;
  TrainingHistory trainings;
  std::string baseline_fec;  ///< the FEC mode in which the baseline of the errors began; "" unknown

  /// Why this source gives nothing; nullptr: it is ok, maybe with something missing.
  [[nodiscard]] const SourceStatus* blind_to(SourceId source) const;
  /// The verbs port counters were absent when the port was first seen and never appeared, while its
  /// other values are read: its driver has none (rxe, ionic, some in switch mode).
  [[nodiscard]] bool lacks_counters() const;
  /// "optical", "aoc", "dac", "acc" or "unknown"; of the last module that was present.
  [[nodiscard]] const std::string& medium() const { return medium_; }
  [[nodiscard]] double line_rate_bps() const;
  /// The FEC mode in force. Normally what the link reports. If it reports nothing (IPoIB and some
  /// drivers do not answer ETHTOOL_FEC) or only "RS", what its lanes need: RS544 from 50 Gb/s per
  /// lane (PAM4; IEEE 802.3 cl. 134, IBTA HDR); below that, RS528 if something was corrected. ""
  /// unknown.
  [[nodiscard]] std::string_view fec() const;
  /// The port's baselines, without its key and time.
  [[nodiscard]] PortReferences references() const;

 private:
  friend class History;
  // --- what a snapshot brings
  void update(const PortEvent& event, const Instant& now);
  void update_link(const LinkSample& link, const Instant& now);
  void update_counters(const PortSample& sample, const Instant& now);
  void update_module(const ModuleSample& module, const Instant& now);
  void update_peer(const PeerSample& sample, const Instant& now);
  void update_far_module(const PeerSample& sample, bool says_the_same, const Instant& now);
  void update_pcie(const PcieSample& pcie, SteadyTime now);
  void update_reboot(SteadyTime now);
  void forget_old(SteadyTime now);

  void add_losses(SteadyTime t, std::uint64_t count, const Instant& now);
  void set_carrier(bool up, SteadyTime t);
  void note_before_loss();
  void note_training();
  void note_loss_before_fall(const Interval& interval);
  void forget_counts();
  void forget_recent_light();
  void forget_absent_module();
  void end_module();
  [[nodiscard]] bool was_bad_before_loss() const;
  [[nodiscard]] double speed_mbps() const;

  // --- over a restart
  void adopt(const PortReferences& kept, SteadyTime now);
  void recall_peer(const PortReferences& kept, const Instant& now);
  void end_recalled_peer(const Instant& now);

  // --- sources that are not ok
  [[nodiscard]] bool is_stale(SourceId source, SteadyTime read_at) const;
  void forget_stale(SteadyTime now);
  void forget_stale_counters();

  SteadyTime now_;  ///< of the last snapshot
  std::string medium_ = "unknown";
  RateCalculator rates_;
  bool peer_recalled_ = false;  ///< latest.peer was restored from before a restart
  bool read_while_down_ = false;
};

class History {
 public:
  explicit History(IntentTimes times = {}) : times_(times) {}
  /// Adds a snapshot. REQUIRES: in the order of taken_at.
  void observe(const Snapshot& snapshot);
  [[nodiscard]] const std::map<std::string, PortHistory>& ports() const { return ports_; }
  [[nodiscard]] const PortHistory* find(const PortKey& key) const;
  [[nodiscard]] SteadyTime now() const { return now_.t; }
  [[nodiscard]] std::optional<double> uptime_s() const { return uptime_s_; }
  /// The node's sources that are not ok or have something missing.
  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  /// Ports whose stable key changed in the last snapshot: data keyed by it must move.
  [[nodiscard]] const PortMoves& moves() const { return moves_; }
  /// Adds a port that configuration expects and no snapshot has shown, as absent, under its label.
  /// Once it is seen under its own stable key, this entry counts as present.
  void expect(const PortKey& key);
  /// Removes an expected port that was never seen; any other is left alone.
  void expect_no_more(const std::string& stable);
  /// The port is in maintenance: losses from `since` on are planned.
  void plan_losses_since(const std::string& stable, SteadyTime since);
  /// The best speed of any card and module that was ever in this port's place; 0: none had a link.
  [[nodiscard]] std::uint32_t place_speed_mbps(const std::string& stable) const;
  /// What must survive a restart, including ports that were not seen since the last one.
  [[nodiscard]] ReferenceState references() const;
  /// Restores what an earlier run learned. REQUIRES: before the first snapshot.
  void restore(const ReferenceState& state);

 private:
  PortHistory& add_port(const std::string& stable, const PortKey& label, const PortId& id);
  void adopt(const std::string& stable, PortHistory& port);
  void recall(const PortKey& label);
  [[nodiscard]] bool is_forgettable(const PortHistory& port) const;
  [[nodiscard]] bool was_used(const PortReferences& kept) const;
  void move_cards(const Snapshot& snapshot);
  void match_ports(const Snapshot& snapshot);
  [[nodiscard]] std::string stable_of(const PortKey& key, const PortSample& sample) const;
  [[nodiscard]] std::map<std::string, std::string> known_names() const;
  void release_names(const Snapshot& snapshot);
  [[nodiscard]] std::string owner_of_module(const PortHistory& port,
                                            const ModuleSample& module) const;
  void doubt_module(PortHistory& port, const PortSample& sample);
  void add_samples(const Snapshot& snapshot);
  void note_place(const std::string& stable, std::uint32_t speed_mbps);

  std::map<std::string, PortHistory> ports_;  ///< by stable key
  std::map<PortKey, std::string> labels_;
  std::map<std::string, PortReferences> kept_;  ///< from an earlier run, until the port is seen
  std::map<std::string, std::uint32_t> place_speeds_mbps_;  ///< by stable key
  PortMoves moves_;                                         ///< in the last snapshot
  IntentTimes times_;
  Instant now_;
  std::optional<double> uptime_s_;
  SourceMap sources_;
};

/// Whether this FEC mode corrects errors; "" and "Off" do not.
bool fec_is_on(std::string_view fec);

}  // namespace linkhealth
