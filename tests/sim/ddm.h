// What a module's own meters read: a calibration error that is constant per module and lane, noise
// of each reading, and the steps of the register (SFF-8472/8636, CMIS).
#pragma once

#include <optional>
#include <vector>

#include "model/snapshot.h"
#include "tests/sim/link_model.h"

namespace linkhealth::sim {

enum class LimitsKind : std::uint8_t { kGood, kNone, kZero };

struct Ddm {
  std::vector<double> rx_offset_db, tx_offset_db, bias_factor;
  double temperature_offset_c = 0;
  double noise_db = 0.07;
  bool whole_degrees = false;
  bool power_hidden = false;  ///< reports no optical power (many AOCs)
  bool flags = false;
  bool vdm = false;
  LimitsKind limits = LimitsKind::kGood;
  double supply_v = 3.28;
  /// Set by a fault: the meter of this lane reads 0 although there is light.
  std::vector<bool> rx_broken;
};

Ddm draw_ddm(const Medium& medium, double flags_probability, Rng& rng);

/// The reading of one end. `in` is the direction that this end receives.
ModuleSample read_module(const LinkModel& link, const Ddm& ddm, Way in, double temperature_c,
                         Rng& rng);

/// The limits that a module of this medium would have in its memory.
ModuleThresholds medium_limits(const Medium& medium);

}  // namespace linkhealth::sim
