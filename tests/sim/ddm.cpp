#include "tests/sim/ddm.h"

#include <algorithm>
#include <cmath>

namespace linkhealth::sim {
namespace {

double measured_mw(double dbm, double offset_db, double noise_db, Rng& rng) {
  double mw = 0;
  if (dbm > -38.0) mw = mw_from_dbm(dbm + offset_db + rng.normal(0, noise_db));
  if (dbm <= -25.0 && rng.chance(0.3))
    mw += 1e-4;  // the last digit of a dark meter is not quite constant
  return std::min(6.5535, std::floor(mw * 1e4) / 1e4);
}

void apply_flags(ModuleLane& lane, double rx, bool laser_dead, const Ddm& ddm, Rng& rng) {
  if (!ddm.flags) return;
  // latched; the last reader may have cleared it.
  const bool dark = rx < -24.0 && !rng.chance(0.15);
  lane.rx_los = dark;
  lane.rx_lol = dark;
  lane.tx_los = false;
  lane.tx_lol = false;
  lane.tx_fault = laser_dead && rng.chance(0.3);
}

Limits scaled(double middle, double low_alarm, double low_warn, double high_warn,
              double high_alarm) {
  return {middle * low_alarm, middle * low_warn, middle * high_warn, middle * high_alarm};
}

}  // namespace

Ddm draw_ddm(const Medium& medium, double flags_probability, Rng& rng) {
  Ddm ddm;
  const double rx_module = rng.normal_within(0, 1.0, 3.0);
  const double tx_module = rng.normal_within(0, 1.0, 3.0);
  const double lane_sigma = rng.uniform(0.15, 0.45);
  for (std::size_t lane = 0; lane < medium.lanes; ++lane) {
    ddm.rx_offset_db.push_back(std::clamp(rx_module + rng.normal(0, lane_sigma), -3.0, 3.0));
    ddm.tx_offset_db.push_back(std::clamp(tx_module + rng.normal(0, lane_sigma), -3.0, 3.0));
    ddm.bias_factor.push_back(1.0 + rng.normal_within(0, 0.04, 0.1));
  }
  ddm.rx_broken.assign(medium.lanes, false);
  ddm.temperature_offset_c = rng.normal_within(0, 1.2, 3.0);
  ddm.noise_db = rng.uniform(0.03, 0.11);
  ddm.whole_degrees = rng.chance(0.35);
  ddm.power_hidden = medium.build == Build::kAoc && rng.chance(0.5);
  ddm.flags = rng.chance(flags_probability);
  ddm.vdm = medium.modulation == Modulation::kPam4 && rng.chance(0.25);
  const std::size_t limits = rng.weighted({0.72, 0.14, 0.14});
  ddm.limits = limits == 0   ? LimitsKind::kGood
               : limits == 1 ? LimitsKind::kNone
                             : LimitsKind::kZero;
  ddm.supply_v = rng.normal_within(3.29, 0.02, 0.06);
  return ddm;
}

ModuleThresholds medium_limits(const Medium& medium) {
  ModuleThresholds limits;
  limits.temperature_c = {-5, 0, 70, 75};
  limits.supply_v = {3.0, 3.135, 3.465, 3.6};
  const double rx_low = medium.sensitivity_dbm - 0.9;
  limits.rx_power_mw = {mw_from_dbm(rx_low - 2), mw_from_dbm(rx_low), mw_from_dbm(4.5),
                        mw_from_dbm(5.5)};
  limits.tx_power_mw = {mw_from_dbm(medium.tx_dbm - 5.4), mw_from_dbm(medium.tx_dbm - 4.4),
                        mw_from_dbm(4.5), mw_from_dbm(5.5)};
  limits.tx_bias_ma = scaled(medium.bias_ma, 0.4, 0.5, 1.35, 1.5);
  return limits;
}

ModuleSample read_module(const LinkModel& link, const Ddm& ddm, Way in, double temperature_c,
                         Rng& rng) {
  const Medium& medium = link.medium();
  ModuleSample out;
  const double temperature = temperature_c + ddm.temperature_offset_c + rng.normal(0, 0.2);
  if (medium.build == Build::kDac) return out;
  out.temperature_c =
      ddm.whole_degrees ? std::floor(temperature) : std::round(temperature * 256.0) / 256.0;
  out.supply_v = std::round((ddm.supply_v + rng.normal(0, 0.003)) * 1e4) / 1e4;
  if (medium.build == Build::kAcc) return out;
  const Way away = in == Way::kIn ? Way::kOut : Way::kIn;
  if (!ddm.power_hidden) {
    for (std::size_t lane = 0; lane < link.lanes(); ++lane) {
      ModuleLane reading;
      const double rx = link.rx_dbm(in, lane);
      reading.rx_power_mw =
          ddm.rx_broken[lane] ? 0.0 : measured_mw(rx, ddm.rx_offset_db[lane], ddm.noise_db, rng);
      const double tx = link.tx_dbm(away, lane);
      reading.tx_power_mw = measured_mw(tx, ddm.tx_offset_db[lane], ddm.noise_db * 0.6, rng);
      const Direction& outgoing = link.direction(away);
      const double bias = outgoing.nominal[lane].bias_ma * outgoing.now[lane].bias_factor *
                          ddm.bias_factor[lane] *
                          (1.0 + 0.004 * (temperature_c - medium.temperature_c));
      reading.tx_bias_ma =
          std::round(std::max(0.0, bias * (1.0 + rng.normal(0, 0.003))) * 500.0) / 500.0;
      apply_flags(reading, rx, outgoing.now[lane].tx_dark && !outgoing.now[lane].tx_disabled, ddm,
                  rng);
      out.lanes.push_back(reading);
    }
  }
  if (ddm.limits == LimitsKind::kGood) out.thresholds = medium_limits(medium);
  if (ddm.limits == LimitsKind::kZero) {
    ModuleThresholds& t = out.thresholds;
    for (Limits* limits :
         {&t.temperature_c, &t.supply_v, &t.rx_power_mw, &t.tx_power_mw, &t.tx_bias_ma})
      *limits = {0, 0, 0, 0};
  }
  if (ddm.vdm) {
    for (std::size_t lane = 0; lane < link.lanes(); ++lane) {
      const double ber = std::max(1e-12, link.lane_ber(in, lane, temperature_c));
      const double q = q_from_ber(medium.modulation, ber);
      out.vdm.media_esnr_db.push_back(
          std::round((20.0 * std::log10(q) + 6.5 + rng.normal(0, 0.15)) * 10.0) / 10.0);
    }
    const double mean = link.mean_ber(in, temperature_c);
    out.vdm.media_pre_fec_ber = {mean * rng.uniform(0.7, 0.95), mean * rng.uniform(1.1, 1.7), mean,
                                 mean * rng.uniform(0.9, 1.1), std::nullopt};
  }
  return out;
}

}  // namespace linkhealth::sim
