// One simulated port: its link, both modules, the driver's counters and the state machine of the
// carrier. Faults and everyday events act through Effects, which change the physics or the
// conditions for a time; nothing writes a symptom directly.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/snapshot.h"
#include "tests/sim/ddm.h"
#include "tests/sim/link_model.h"

namespace linkhealth::sim {

/// The counters that the driver offers. Adding to any other does nothing.
class Tally {
 public:
  void offer(std::string_view name, std::uint64_t start, std::uint64_t limit = 0);
  void add(std::string_view name, double amount);
  void reset();
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::uint64_t>>& values() const {
    return values_;
  }

 private:
  std::vector<std::pair<std::string_view, std::uint64_t>> values_;
  std::vector<std::uint64_t> limits_;  ///< 0: 64 bits; else the counter sticks there
};

/// Conditions during a step; reset to normal at its beginning.
struct Conditions {
  bool admin_up = true, far_admin_up = true;
  bool nic_ok = true, device_gone = false, rebooting = false, far_reachable = true;
  bool module_present = true, far_module_present = true;
  bool module_accepted = true, settings_match = true, module_managed = true, too_hot = false,
       powered = true;
  bool laser_follows_far_admin = true;
  /// This host keeps the module in low power, or its lasers off, or sends it no signal.
  bool held_low = false, held_dark = false, host_silent = false;
  double speed_factor = 1;
  double flap_per_s = 0, flap_down_s = 0;
  double heat_c = 0, far_heat_c = 0;
  double load_factor = 1, load_added = 0;
  double congestion = 0;  ///< marked packets and pauses per second at full load
  double wait_share = 0;  ///< share of time in which the port has data but no credits
  double host_drops_per_s = 0, host_pause_per_s = 0, pci_stalls_per_s = 0;
  double remote_loss_per_s = 0, reorder_per_s = 0;
  bool remote_marked = false;
  bool slow_restarts = false;    ///< the card generates a notification for each timeout
  double supply_drop_v = 0;      ///< of the module
  bool counters_frozen = false;  ///< they are read, but keep their old values
  bool above_narrow = false;     ///< a link between the card's own and the root port
  double above_gtps = 0;         ///< that link saves power at this speed; 0: it does not
  bool bad_pages = false;        ///< the module's second page is read as a copy of its first
  double pcie_width_factor = 1, pcie_speed_factor = 1, aer_per_s = 0;
  DownReason reason;        ///< why the link is down, if a fault overrides the physics
  std::string fault_cause;  ///< of the module
  std::string module_state = "ModuleReady";
  std::vector<std::string> blind;  ///< probes that fail
  std::string blind_reason;
};

class PortSim;

struct Effect {
  double start_s = 0;
  double ramp_s = 0;  ///< time until full strength
  double end_s = std::numeric_limits<double>::infinity();
  bool fine = true;  ///< needs steps of seconds
  std::function<void(PortSim&, double strength, double t)> apply;
};

/// Something that happens once.
struct Action {
  double t = 0;
  std::function<void(PortSim&)> run;
};

struct PortSetup {
  PortId id;
  const Medium* medium = nullptr;
  const Driver* driver = nullptr;
  int far_level = 0;        ///< 0 nothing, 1 name, 2 link and counters, 3 module too
  std::string peer_source;  ///< "mad", "telemetry", "lldp"
  std::string leaf, far_port;
  std::string far_guid;
  bool empty_fails = false;  ///< reading an empty cage gives an error
  double telemetry_s = 0;    ///< time between two readings by the collector; 0: each time
};

class PortSim {
 public:
  PortSim(PortSetup setup, std::uint64_t seed);

  /// Brings the port to its state before the first sample: warm, and down if it has been down.
  void begin(double load, double room_c);
  /// Runs from `from` to `to` with the node's traffic and room. Events go to events().
  void advance(double from, double to, double load, double room_c);
  /// What the probes read. Groups that are not requested are left out.
  PortSample sample(double t, bool optics, bool peer, bool pcie, std::vector<Gap>& gaps);

  void add(Effect effect) { effects_.push_back(std::move(effect)); }
  void at(double t, std::function<void(PortSim&)> run) { actions_.push_back({t, std::move(run)}); }
  void emit(double t, PortEventKind kind, std::string text = {});
  void emit_at(double t, PortEventKind kind) {
    at(t, [t, kind](PortSim& port) { port.emit(t, kind); });
  }
  void kernel_log(double t, std::string text) {
    emit(t, PortEventKind::kKernelLog, std::move(text));
  }
  void swap_module(double t);
  void reset_counters();
  /// Reloads the driver: the carrier counts restart.
  void reload_driver();

  Conditions now;
  LinkModel link;
  Ddm ddm, far_ddm;
  PcieSample pcie;
  PortSetup setup;
  /// All ports of this port's module, the first one first; empty: the module is not shared.
  std::vector<PortSim*> cage;
  Rng rng;
  double temperature_c = 0, far_temperature_c = 0;
  double heat_offset_c = 0;  ///< of this cage relative to its neighbours
  bool unused = false, virtual_function = false;
  std::string type, fec;  ///< as named by the module and the driver; "": the medium's
  std::vector<PortEvent>& events() { return events_; }
  [[nodiscard]] bool carrier() const { return carrier_; }
  [[nodiscard]] bool infiniband() const { return setup.id.link_layer == "InfiniBand"; }
  [[nodiscard]] bool powers_readable() const;
  [[nodiscard]] bool gives_reason() const { return setup.driver->down_reason; }
  [[nodiscard]] bool gives_lanes() const { return has_lanes_; }
  [[nodiscard]] std::uint64_t lost_packets() const { return lost_packets_; }
  /// Evaluates the effects at `t` without letting time pass: for planning.
  void settle(double t);

 private:
  void offer_counters();
  void step(double t, double step_s, double load, double room_c);
  void apply_light();
  void move_carrier(double t, double step_s);
  void fall(double t);
  void rise(double t);
  void count(double step_s, double load);
  void count_traffic(double step_s, double load);
  [[nodiscard]] bool possible() const;
  [[nodiscard]] double next_cut(double t, double to) const;
  LinkSample sample_link() const;
  DownReason physical_reason() const;
  ModuleSample sample_module();
  ModuleSample sample_cage();
  PcieSample sample_pcie() const;
  std::optional<PeerSample> told_peer(double t, std::vector<Gap>& gaps);
  std::optional<PeerSample> sample_peer(double t, std::vector<Gap>& gaps);

  std::vector<Effect> effects_;
  std::vector<Action> actions_;
  std::vector<PortEvent> events_;
  Tally tally_;
  std::optional<Counters> last_counters_;  ///< as last sampled
  std::optional<PeerSample> last_peer_;    ///< as last read by the collector
  double peer_read_at_ = 0;
  std::vector<double> lane_bits_;
  bool has_lanes_ = false, has_bits_ = false;
  bool carrier_ = true;
  double retrain_s_ = 5, ready_at_ = 0, changed_at_ = -1e9;
  std::uint64_t up_count_ = 1, down_count_ = 0;
  double far_symbol_errors_ = 0, far_link_downed_ = 0, far_rcv_errors_ = 0;
  std::uint64_t lost_packets_ = 0;
  double fall_tendency_ = 0.05;
  double down_timeouts_ = 0;
  std::string vendor_, part_, serial_, revision_, firmware_, date_;
  double length_m_ = 0;
};

}  // namespace linkhealth::sim
