// The physics of a serial link: light in dBm, bit error ratio from the receiver's margin, and the
// effect of Reed-Solomon FEC. Pure functions; the tables that they reproduce are in docs/physics.md
// 7.
#pragma once

#include <cstdint>

namespace linkhealth::sim {

enum class Modulation : std::uint8_t { kNrz, kPam4 };
enum class Fec : std::uint8_t { kNone, kRs528, kRs544 };

/// The lowest power in use, dBm.
inline constexpr double kDarkDbm = -60.0;

double mw_from_dbm(double dbm);
/// kDarkDbm for 0 mW and less.
double dbm_from_mw(double mw);

/// The Q factor (of one eye for PAM4) at which the bit error ratio is `ber`, Gray coding.
double q_from_ber(Modulation modulation, double ber);
double ber_from_q(Modulation modulation, double q);

/// The bit error ratio before FEC that the medium's limit allows at margin 0 dB: 2.4e-4 PAM4, 5e-5
/// NRZ with RS528, 1e-12 without FEC.
double limit_ber(Modulation modulation, Fec fec);

/// A receiver whose noise is thermal plus a floor that no light removes (RIN, ISI, crosstalk,
/// reflections): 1/Q² = 1/(Q1·10^(m/10))² + 1/Qf², with Q1 such that margin 0 dB gives the limit.
class Receiver {
 public:
  Receiver(Modulation modulation, Fec fec, double floor_ber);
  [[nodiscard]] double ber(double margin_db) const;
  [[nodiscard]] double q(double margin_db) const;
  [[nodiscard]] double floor_ber() const { return floor_ber_; }

 private:
  Modulation modulation_;
  double floor_ber_;
  double inverse_q1_squared_;
  double inverse_qf_squared_;
};

/// log10 of the probability that a codeword has more wrong symbols than FEC can correct, for
/// independent bit errors. 0 for FEC off (every error is a loss, count bits instead).
double log10_uncorrectable(Fec fec, double ber);
/// Codewords per second on a port of this speed.
double codewords_per_s(Fec fec, double speed_mbps);
/// Coded bits per second: the divisor for corrected bits.
double coded_bits_per_s(Fec fec, double speed_mbps);

}  // namespace linkhealth::sim
