#include "tests/sim/physics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace linkhealth::sim {

double mw_from_dbm(double dbm) { return std::pow(10.0, dbm / 10.0); }

double dbm_from_mw(double mw) {
  return mw <= 0.0 ? kDarkDbm : std::max(kDarkDbm, 10.0 * std::log10(mw));
}

double ber_from_q(Modulation modulation, double q) {
  const double factor = modulation == Modulation::kPam4 ? 0.375 : 0.5;
  return factor * std::erfc(q / std::numbers::sqrt2);
}

double q_from_ber(Modulation modulation, double ber) {
  double low = 0.0;
  double high = 12.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (ber_from_q(modulation, middle) > ber ? low : high) = middle;
  }
  return (low + high) / 2;
}

double limit_ber(Modulation modulation, Fec fec) {
  if (modulation == Modulation::kPam4) return 2.4e-4;
  return fec == Fec::kNone ? 1e-12 : 5e-5;
}

Receiver::Receiver(Modulation modulation, Fec fec, double floor_ber)
    : modulation_(modulation), floor_ber_(floor_ber) {
  const double q0 = q_from_ber(modulation, limit_ber(modulation, fec));
  const double qf = q_from_ber(modulation, floor_ber);
  inverse_qf_squared_ = 1.0 / (qf * qf);
  // With a floor above the limit, no finite Q1 meets the limit: use the receiver without the floor.
  const double rest = 1.0 / (q0 * q0) - inverse_qf_squared_;
  inverse_q1_squared_ = rest > 0.2 / (q0 * q0) ? rest : 0.6 / (q0 * q0);
}

double Receiver::q(double margin_db) const {
  const double gain = std::pow(10.0, margin_db / 10.0);
  return 1.0 / std::sqrt(inverse_q1_squared_ / (gain * gain) + inverse_qf_squared_);
}

double Receiver::ber(double margin_db) const { return ber_from_q(modulation_, q(margin_db)); }

namespace {

double log10_tail(int symbols, int correctable, double ber) {
  const double p = -std::expm1(10.0 * std::log1p(-ber));
  const double log_p = std::log(p);
  const double log_1p = std::log1p(-p);
  double largest = -1e300;
  std::array<double, 600> terms{};
  const int first = correctable + 1;
  const int count = std::min<int>(static_cast<int>(terms.size()), symbols - correctable);
  for (int i = 0; i < count; ++i) {
    const int k = first + i;
    terms[static_cast<std::size_t>(i)] = std::lgamma(symbols + 1.0) - std::lgamma(k + 1.0) -
                                         std::lgamma(symbols - k + 1.0) + k * log_p +
                                         (symbols - k) * log_1p;
    largest = std::max(largest, terms[static_cast<std::size_t>(i)]);
  }
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += std::exp(terms[static_cast<std::size_t>(i)] - largest);
  return (largest + std::log(sum)) / std::numbers::ln10;
}

constexpr double kTableFrom = -8.0;  // log10 of the bit error ratio
constexpr double kTableStep = 0.02;
constexpr std::size_t kTableSize = 400;

std::array<double, kTableSize> make_table(int symbols, int correctable) {
  std::array<double, kTableSize> table{};
  for (std::size_t i = 0; i < kTableSize; ++i) {
    table[i] = log10_tail(symbols, correctable,
                          std::pow(10.0, kTableFrom + kTableStep * static_cast<double>(i)));
  }
  return table;
}

}  // namespace

double log10_uncorrectable(Fec fec, double ber) {
  if (fec == Fec::kNone) return 0.0;
  if (ber < 1e-8) return -300.0;
  static const std::array<double, kTableSize> rs528 = make_table(528, 7);
  static const std::array<double, kTableSize> rs544 = make_table(544, 15);
  const std::array<double, kTableSize>& table = fec == Fec::kRs528 ? rs528 : rs544;
  const double at = (std::log10(ber) - kTableFrom) / kTableStep;
  const std::size_t index = std::min(static_cast<std::size_t>(at), kTableSize - 2);
  const double part = std::min(1.0, at - static_cast<double>(index));
  return std::min(0.0, table[index] * (1.0 - part) + table[index + 1] * part);
}

double coded_bits_per_s(Fec fec, double speed_mbps) {
  return speed_mbps * 1e6 * (fec == Fec::kRs544 ? 1.0625 : 1.03125);
}

double codewords_per_s(Fec fec, double speed_mbps) {
  if (fec == Fec::kNone) return 0.0;
  return coded_bits_per_s(fec, speed_mbps) / (fec == Fec::kRs544 ? 5440.0 : 5280.0);
}

}  // namespace linkhealth::sim
