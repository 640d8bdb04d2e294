// One cable with a transmitter and a receiver at each end: light, margin and errors of every lane
// in both directions. The nominal values are drawn once; the effects of a fault are set again for
// every time step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/sim/media.h"
#include "tests/sim/physics.h"
#include "tests/sim/rng.h"

namespace linkhealth::sim {

/// A lane as built.
struct LaneNominal {
  double tx_dbm = 0;
  double loss_db = 0;
  double sensitivity_dbm = 0;
  double floor_ber = 1e-9;
  double bias_ma = 0;
};

/// Changes by faults and ageing.
struct LaneNow {
  double tx_change_db = 0;   ///< <= 0
  bool tx_dark = false;      ///< laser dead or switched off
  bool tx_disabled = false;  ///< switched off: dark, but no fault
  double bias_factor = 1;
  double added_loss_db = 0;
  bool open = false;      ///< nothing passes: a break, or unplugged
  double penalty_db = 0;  ///< loss of receiver sensitivity or signal quality without loss of light
  double added_floor_ber = 0;  ///< reflections
};

enum class Way : std::uint8_t { kIn = 0, kOut = 1 };  ///< towards this node, away from it

struct Direction {
  std::vector<LaneNominal> nominal;
  std::vector<LaneNow> now;
  std::vector<Receiver> receivers;
  double burst_per_s = 0;      ///< seconds with a burst, per second
  double burst_decades = 1;    ///< factor by which a burst is worse, in decades
  double burst_per_s_now = 0;  ///< set by a fault
  double burst_decades_now = 0;
};

/// What a direction counted in a step.
struct ErrorCount {
  std::vector<double> lane_bits;  ///< wrong bits before FEC, by lane
  double corrected_bits = 0;
  double corrected_blocks = 0;
  double uncorrectable_blocks = 0;
  double symbol_errors = 0;  ///< errors left by FEC; without FEC, all errors
  double worst_ber = 0;
  double lost_blocks_share = 0;  ///< probability that a codeword is lost, outside bursts
};

class LinkModel {
 public:
  LinkModel() = default;
  LinkModel(const Medium& medium, Rng& rng);

  void begin_step();
  /// Light at the receiver of a lane, dBm; kDarkDbm when there is none.
  [[nodiscard]] double rx_dbm(Way way, std::size_t lane) const;
  [[nodiscard]] double tx_dbm(Way way, std::size_t lane) const;
  [[nodiscard]] double margin_db(Way way, std::size_t lane, double receiver_temperature_c) const;
  [[nodiscard]] double lane_ber(Way way, std::size_t lane, double receiver_temperature_c) const;
  /// Mean over the lanes, as seen by FEC.
  [[nodiscard]] double mean_ber(Way way, double receiver_temperature_c) const;
  /// Counts of `step_s` seconds with the carrier up at the medium's full speed.
  ErrorCount count(Way way, double step_s, double receiver_temperature_c, Rng& rng) const;
  /// Both directions can be locked: every lane has enough light and few enough errors.
  [[nodiscard]] bool can_lock(double local_temperature_c, double far_temperature_c) const;

  Direction& direction(Way way) { return directions_[static_cast<std::size_t>(way)]; }
  [[nodiscard]] const Direction& direction(Way way) const {
    return directions_[static_cast<std::size_t>(way)];
  }
  /// Interrupts both fibres or wires.
  void open_all() {
    for (Direction& each : directions_)
      for (LaneNow& lane : each.now) lane.open = true;
  }
  [[nodiscard]] const Medium& medium() const { return *medium_; }
  [[nodiscard]] std::size_t lanes() const { return directions_[0].nominal.size(); }
  /// A new module at the transmitter or receiver end (by `local`): draws its lanes again, keeps the
  /// fibre.
  void replace_module(bool local, Rng& rng);

 private:
  void draw_transmitter(Direction& direction, Rng& rng) const;
  void draw_receiver(Direction& direction, Rng& rng) const;
  void draw_path(Direction& direction, Rng& rng) const;

  const Medium* medium_ = nullptr;
  std::array<Direction, 2> directions_;
};

}  // namespace linkhealth::sim
