#include "tests/sim/link_model.h"

#include <algorithm>
#include <cmath>

namespace linkhealth::sim {
namespace {

/// dB below the receiver's sensitivity at which its loss-of-signal detector trips.
constexpr double kLockMarginDb = -4.0;
/// Above this share of lost codewords, alignment is not found, or is lost within a second.
constexpr double kLockLostShare = 0.02;

}  // namespace

LinkModel::LinkModel(const Medium& medium, Rng& rng) : medium_(&medium) {
  for (Direction& direction : directions_) {
    direction.nominal.resize(medium.lanes);
    direction.now.resize(medium.lanes);
    draw_transmitter(direction, rng);
    draw_path(direction, rng);
    draw_receiver(direction, rng);
    direction.burst_per_s = std::pow(10.0, rng.uniform(-6.5, -4.3));
    direction.burst_decades = rng.uniform(0.7, 1.6);
  }
}

void LinkModel::draw_transmitter(Direction& direction, Rng& rng) const {
  const double module_db = rng.normal_within(medium_->tx_dbm, medium_->tx_sigma_db, 2.2);
  const double module_ma =
      rng.normal_within(medium_->bias_ma, medium_->bias_sigma_ma, medium_->bias_ma * 0.3);
  double laser_ma = module_ma;
  for (std::size_t lane = 0; lane < medium_->lanes; ++lane) {
    LaneNominal& nominal = direction.nominal[lane];
    const bool copper = medium_->bias_ma <= 0;
    nominal.tx_dbm = copper ? std::max(0.8, module_db) + rng.normal(0, 0.15)
                            : module_db + rng.normal_within(0, 0.4, 1);
    if (lane % medium_->lanes_per_laser == 0)
      laser_ma = module_ma * (1.0 + rng.normal_within(0, 0.06, 0.15));
    nominal.bias_ma = laser_ma;
  }
}

void LinkModel::draw_path(Direction& direction, Rng& rng) const {
  if (medium_->bias_ma <= 0) return;
  const double fibre_db =
      std::max(0.2, rng.normal_within(medium_->loss_db, medium_->loss_sigma_db, 1.8));
  for (LaneNominal& nominal : direction.nominal) {
    const double own =
        medium_->duplex ? rng.normal_within(0, 0.15, 0.4) : rng.normal_within(0, 0.25, 0.6);
    nominal.loss_db = std::max(0.1, fibre_db + own);
  }
}

void LinkModel::draw_receiver(Direction& direction, Rng& rng) const {
  direction.receivers.clear();
  const bool pam4 = medium_->modulation == Modulation::kPam4;
  const double module_floor = pam4 ? rng.uniform(-9.6, -7.2) : rng.uniform(-14.5, -12.2);
  const double module_db = rng.normal_within(0, medium_->bias_ma > 0 ? 0.5 : 0.0, 1.0);
  for (LaneNominal& nominal : direction.nominal) {
    nominal.sensitivity_dbm = medium_->sensitivity_dbm + module_db + rng.normal_within(0, 0.2, 0.5);
    double floor = module_floor + rng.normal(0, 0.25);
    if (medium_->fec == Fec::kNone) floor = std::min(floor - 3.0, -16.0);
    nominal.floor_ber = std::pow(10.0, floor);
    direction.receivers.emplace_back(medium_->modulation, medium_->fec, nominal.floor_ber);
  }
}

void LinkModel::replace_module(bool local, Rng& rng) {
  draw_transmitter(direction(local ? Way::kOut : Way::kIn), rng);
  draw_receiver(direction(local ? Way::kIn : Way::kOut), rng);
}

void LinkModel::begin_step() {
  for (Direction& direction : directions_) {
    std::fill(direction.now.begin(), direction.now.end(), LaneNow{});
    direction.burst_per_s_now = 0;
    direction.burst_decades_now = 0;
  }
}

double LinkModel::tx_dbm(Way way, std::size_t lane) const {
  const Direction& from = direction(way);
  return from.now[lane].tx_dark ? kDarkDbm
                                : from.nominal[lane].tx_dbm + from.now[lane].tx_change_db;
}

double LinkModel::rx_dbm(Way way, std::size_t lane) const {
  const Direction& from = direction(way);
  if (from.now[lane].tx_dark || from.now[lane].open) return kDarkDbm;
  return std::max(kDarkDbm,
                  tx_dbm(way, lane) - from.nominal[lane].loss_db - from.now[lane].added_loss_db);
}

double LinkModel::margin_db(Way way, std::size_t lane, double receiver_temperature_c) const {
  const Direction& from = direction(way);
  const double hot_db = 0.02 * std::max(0.0, receiver_temperature_c - 55.0);
  return rx_dbm(way, lane) - from.nominal[lane].sensitivity_dbm - from.now[lane].penalty_db -
         hot_db;
}

double LinkModel::lane_ber(Way way, std::size_t lane, double receiver_temperature_c) const {
  const Direction& from = direction(way);
  const double margin = margin_db(way, lane, receiver_temperature_c);
  const double warm = std::pow(1.05, receiver_temperature_c - medium_->temperature_c);
  // The increase of the floor with temperature and reflections is added to the error ratio: near
  // the floor that equals its effect on Q, and far from it neither matters.
  const double floor = from.nominal[lane].floor_ber * (warm - 1.0) + from.now[lane].added_floor_ber;
  return std::clamp(from.receivers[lane].ber(margin) + floor, 1e-30, 0.375);
}

double LinkModel::mean_ber(Way way, double receiver_temperature_c) const {
  double sum = 0;
  for (std::size_t lane = 0; lane < lanes(); ++lane)
    sum += lane_ber(way, lane, receiver_temperature_c);
  return sum / static_cast<double>(lanes());
}

ErrorCount LinkModel::count(Way way, double step_s, double receiver_temperature_c, Rng& rng) const {
  const Direction& from = direction(way);
  ErrorCount out;
  out.lane_bits.resize(lanes());
  const double bits_per_s = coded_bits_per_s(medium_->fec, medium_->speed_mbps);
  const double lane_bits_per_s = bits_per_s / static_cast<double>(lanes());
  const double burst_rate = std::max(from.burst_per_s, from.burst_per_s_now);
  const double burst_s = std::min(step_s, static_cast<double>(rng.poisson(burst_rate * step_s)));
  const double decades = from.burst_decades_now > 0 ? from.burst_decades_now : from.burst_decades;
  const double burst_factor = burst_s > 0 ? std::pow(10.0, decades * rng.uniform(0.6, 1.2)) : 1.0;
  double total = 0;
  double mean = 0;
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    const double ber = lane_ber(way, lane, receiver_temperature_c);
    mean += ber / static_cast<double>(lanes());
    out.worst_ber = std::max(out.worst_ber, ber);
    const double seconds = step_s + burst_s * (burst_factor - 1.0);
    out.lane_bits[lane] =
        static_cast<double>(rng.poisson(std::min(0.1, ber) * lane_bits_per_s * seconds));
    total += out.lane_bits[lane];
  }
  if (medium_->fec == Fec::kNone) {
    // Without FEC every glitch is visible.
    out.symbol_errors =
        total +
        (burst_s > 0 ? static_cast<double>(rng.poisson(3.0 * burst_s * decades * decades)) : 0.0);
    return out;
  }
  const double words_per_s = codewords_per_s(medium_->fec, medium_->speed_mbps);
  const double word_bits = bits_per_s / words_per_s;
  out.lost_blocks_share = std::pow(10.0, log10_uncorrectable(medium_->fec, mean));
  const double burst_share =
      std::pow(10.0, log10_uncorrectable(medium_->fec, std::min(0.1, mean * burst_factor)));
  // A burst is not spread over its second: a glitch of microseconds can lose a few codewords at any
  // mean error ratio.
  const double glitches =
      burst_s > 0 ? static_cast<double>(rng.poisson(0.4 * burst_s * decades * decades)) : 0.0;
  const double words = words_per_s * step_s;
  out.uncorrectable_blocks = std::min(
      words,
      static_cast<double>(rng.poisson(out.lost_blocks_share * words_per_s * (step_s - burst_s) +
                                      burst_share * words_per_s * burst_s)) +
          glitches);
  const double hit = words * -std::expm1(-(total / (words_per_s * step_s)) * 1.0);
  out.corrected_blocks = std::floor(std::max(0.0, std::min(hit, total) - out.uncorrectable_blocks));
  out.corrected_bits = std::max(0.0, total - out.uncorrectable_blocks * mean * word_bits);
  const double correctable = medium_->fec == Fec::kRs528 ? 7 : 15;
  out.symbol_errors = out.uncorrectable_blocks * (correctable + 2);
  return out;
}

bool LinkModel::can_lock(double local_temperature_c, double far_temperature_c) const {
  for (const Way way : {Way::kIn, Way::kOut}) {
    const double temperature = way == Way::kIn ? local_temperature_c : far_temperature_c;
    for (std::size_t lane = 0; lane < lanes(); ++lane)
      if (margin_db(way, lane, temperature) < kLockMarginDb) return false;
    const double mean = mean_ber(way, temperature);
    if (medium_->fec == Fec::kNone
            ? mean > 1e-5
            : log10_uncorrectable(medium_->fec, mean) > std::log10(kLockLostShare)) {
      return false;
    }
  }
  return true;
}

}  // namespace linkhealth::sim
