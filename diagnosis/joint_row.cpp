#include "diagnosis/joint_row.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

using enum SymptomId;

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Density of a reading where no light was lost: noise, with tails for remating and temperature.
double quiet(double drop, double sigma) {
  const double z = drop / sigma;
  return 0.97 * std::exp(-z * z / 2) / (sigma * 2.5066) +
         0.03 * std::exp(-std::abs(drop) / 0.6) / 1.2;
}
/// Density of a reading where light was lost: contamination is lognormal with median 0.8 dB
/// (docs/physics.md 7d), breaks and dying lasers go beyond. Below half a dB nothing shows.
double lost(double drop, double sigma) {
  const double onset = normal_cdf((drop - 0.85 - (sigma - 0.2)) / std::max(sigma, 0.2));
  return onset * 0.33 * std::exp(-std::max(drop, 0.0) / 3.0) + 1e-4;
}

constexpr double kBothWaysDb = 1.5;  ///< more than another patch cord costs (docs/physics.md 3e)

bool dims_receiver(std::size_t loss) {
  const auto place = static_cast<LightLoss>(loss);
  return place == LightLoss::kIncoming || place == LightLoss::kBoth ||
         place == LightLoss::kFarLaser;
}

}  // namespace

std::array<double, kLightLossCount> light_likelihood(const LightStats& light,
                                                     std::optional<bool> errors_known,
                                                     std::optional<bool> far_errors) {
  const bool errors = errors_known == true;
  std::array<double, kLightLossCount> fit;
  fit.fill(1);
  // Another patch cord costs or gives a decibel or two. Without harm, less light is a fault only
  // beyond that.
  const auto harmless = [&light](const std::optional<Drop>& drop, std::optional<bool> harm) {
    const bool known_or_touched = harm == false || (!harm && light.touched);
    return drop && !drop->tells_alone && known_or_touched && drop->db < light.alone_db;
  };
  const auto weigh = [&fit, errors](const std::optional<Drop>& drop,
                                    std::array<bool, kLightLossCount> is_lost) {
    // Against its siblings instead of its own past: only errors make a low lane worth a word.
    if (!drop || (drop->sigma_db > 0.4 && !errors && !drop->tells_alone)) return;
    for (std::size_t i = 0; i < kLightLossCount; ++i)
      fit[i] *= is_lost[i] ? lost(drop->db, drop->sigma_db) : quiet(drop->db, drop->sigma_db);
  };
  //                     none  incoming outgoing both  far laser own laser
  const bool little_left = light.margin_db && *light.margin_db < 1;
  const bool rx_counts = little_left || !harmless(light.rx, errors_known);
  // Light that is lost on the way in and does harm: then what is lost on the way out, too, is no
  // patch cord. Where the carrier never went nobody changed a patch cord: then each tenth of a
  // decibel is told by its noise.
  const bool both_ways = errors && rx_counts && light.rx && light.rx->sigma_db < 0.4 &&
                         light.far_rx && light.far_rx->sigma_db < 0.4 &&
                         (!light.touched || std::min(light.rx->db, light.far_rx->db) > kBothWaysDb);
  if (rx_counts) weigh(light.rx, {false, true, false, true, true, false});
  if (both_ways || !harmless(light.far_rx, far_errors))
    weigh(light.far_rx, {false, false, true, true, false, true});
  weigh(light.far_tx, {false, false, false, false, true, false});
  weigh(light.tx, {false, false, false, false, false, true});
  // What all wavelengths pass through loses them all.
  constexpr double kOneWavelength = 0.01;
  constexpr auto kIn = static_cast<std::size_t>(LightLoss::kIncoming),
                 kOut = static_cast<std::size_t>(LightLoss::kOutgoing),
                 kBothWays = static_cast<std::size_t>(LightLoss::kBoth);
  if (light.rx_one_wavelength) fit[kIn] *= kOneWavelength, fit[kBothWays] *= kOneWavelength;
  if (light.far_rx_one_wavelength) fit[kOut] *= kOneWavelength, fit[kBothWays] *= kOneWavelength;
  double sum = 0;
  for (const double value : fit) sum += value;
  for (double& value : fit) value = std::max(value / sum, 1e-9);
  return fit;
}

double drop_suffices(const PortView& view) {
  const SignalStats& s = view.signal;
  if (!view.light.rx || !s.ber || !s.ber_reference || view.light.rx->sigma_db > 0.4) return 1;
  double after = *s.ber;
  if (s.worst_lane >= 0)
    after = std::max(after, s.lane_ber[static_cast<std::size_t>(s.worst_lane)]);
  const double before = std::max(*s.ber_reference, 1e-13);
  const double needed = implied_drop_db(before, after, is_pam4(view));
  return std::max(0.02, normal_cdf((view.light.rx->db - 0.8 * needed + 0.2) / 0.3));
}

std::optional<bool> receive_errors(const Findings& findings) {
  if (at(findings, kReceiveErrors).present() || at(findings, kLosingData).present()) return true;
  if (at(findings, kReceiveErrors).absent() || at(findings, kLosingData).absent()) return false;
  return std::nullopt;
}

double joint_log(const Cause& cause, const std::array<double, kLightLossCount>& fit,
                 std::optional<bool> errors, double suffices) {
  double sum = 0;
  for (std::size_t i = 0; i < kLightLossCount; ++i) {
    double term = cause.light.loss[i] * fit[i];
    if (errors) {
      const bool dim = dims_receiver(i);
      const double p = dim ? cause.light.errors_if_dim : cause.light.errors_if_bright;
      // Light lost by less than the errors need does not explain them.
      const double explained =
          dim ? std::max(p * suffices, std::min(p, cause.light.errors_if_bright)) : p;
      term *= *errors ? explained : 1 - p;
    }
    sum += term;
  }
  return std::log(std::max(sum, 1e-12));
}

}  // namespace linkhealth
