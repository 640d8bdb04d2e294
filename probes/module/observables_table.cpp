// The quantities of CMIS VDM and of SFF-8636 page 20h: type, name, coding, scale, the code of "no
// value", destination.
#include <algorithm>

#include "probes/module/observables.h"

namespace linkhealth {

namespace {

using enum ObservableCoding;
using enum ObservablePart;
using Sink = ObservableSink;
using Worst = ObservableWorst;

constexpr std::uint16_t kNever =
    0xffff;  // for codings whose every value is one: an undriven bus is still refused
constexpr std::uint16_t kLowest = 0x8000;

constexpr Observable of_vdm(std::uint8_t type, std::string_view name, ObservableCoding coding,
                            ObservableScale scale, std::uint16_t not_available,
                            std::optional<double> ModuleVdm::*field,
                            Worst worst = Worst::kLargest) {
  return {.type = type,
          .name = name,
          .coding = coding,
          .scale = scale,
          .not_available = not_available,
          .sink = Sink::kScalar,
          .scalar = field,
          .worst = worst};
}
constexpr Observable of_module(std::uint8_t type, std::string_view name, ObservableCoding coding,
                               ObservableScale scale, std::uint16_t not_available,
                               std::optional<double> ModuleSample::*field, Worst worst) {
  return {.type = type,
          .name = name,
          .coding = coding,
          .scale = scale,
          .not_available = not_available,
          .sink = Sink::kModule,
          .module = field,
          .worst = worst};
}
constexpr Observable of_coherent(std::uint8_t type, std::string_view name, ObservableCoding coding,
                                 ObservableScale scale,
                                 std::optional<double> ModuleCoherent::*field, Worst worst) {
  return {.type = type,
          .name = name,
          .coding = coding,
          .scale = scale,
          .not_available = coding == kS16 ? kLowest : kNever,
          .sink = Sink::kCoherent,
          .coherent = field,
          .worst = worst};
}
/// The same quantity in larger steps, for what the other row's two bytes cannot hold.
constexpr Observable coarse(Observable row) {
  row.coarse = true;
  return row;
}
constexpr Observable of_modulator(std::uint8_t type, std::string_view name,
                                  std::optional<double> ModuleCoherent::*field) {
  return of_coherent(type, name, kU16, kPercentOfU16, field, Worst::kNearestEnd);
}

/// Of a value that is not understood: its flags are.
constexpr Observable of_flags(std::uint8_t type, std::string_view name) {
  return {.type = type,
          .name = name,
          .coding = kU16,
          .scale = kWhole,
          .not_available = kNever,
          .sink = Sink::kFlagsOnly};
}

constexpr Observable kCmis[] = {
    of_vdm(1, "laser_age_percent", kU16, kWhole, 0xffff, &ModuleVdm::laser_age_percent),
    of_vdm(2, "tec_current_percent", kS16, kPercentOfS16, kLowest, &ModuleVdm::tec_current_percent,
           Worst::kMagnitude),
    of_vdm(3, "laser_frequency_error_mhz", kS16, kTens, kLowest,
           &ModuleVdm::laser_frequency_error_mhz, Worst::kMagnitude),
    of_vdm(4, "laser_temperature_c", kS16, k256ths, kLowest, &ModuleVdm::laser_temperature_c,
           Worst::kMagnitude),
    {5, "media_esnr_db", kU16, k256ths, 0, Sink::kEsnr},
    {6, "host_esnr_db", kU16, k256ths, 0, Sink::kEsnr, kNone, true},
    {7, "media_ltp_db", kU16, k256ths, 0, Sink::kLtp},
    {8, "host_ltp_db", kU16, k256ths, 0, Sink::kLtp, kNone, true},
    {9, "media_pre_fec_ber_min", kF16, kWhole, kNever, Sink::kBer, kMin},
    {10, "host_pre_fec_ber_min", kF16, kWhole, kNever, Sink::kBer, kMin, true},
    {11, "media_pre_fec_ber_max", kF16, kWhole, kNever, Sink::kBer, kMax},
    {12, "host_pre_fec_ber_max", kF16, kWhole, kNever, Sink::kBer, kMax, true},
    {13, "media_pre_fec_ber_avg", kF16, kWhole, kNever, Sink::kBer, kAvg},
    {14, "host_pre_fec_ber_avg", kF16, kWhole, kNever, Sink::kBer, kAvg, true},
    {15, "media_pre_fec_ber_current", kF16, kWhole, kNever, Sink::kBer, kCurrent},
    {16, "host_pre_fec_ber_current", kF16, kWhole, kNever, Sink::kBer, kCurrent, true},
    {17, "media_errored_frames_min", kF16, kWhole, kNever, Sink::kErroredFrames, kMin},
    {18, "host_errored_frames_min", kF16, kWhole, kNever, Sink::kErroredFrames, kMin, true},
    {19, "media_errored_frames_max", kF16, kWhole, kNever, Sink::kErroredFrames, kMax},
    {20, "host_errored_frames_max", kF16, kWhole, kNever, Sink::kErroredFrames, kMax, true},
    {21, "media_errored_frames_avg", kF16, kWhole, kNever, Sink::kErroredFrames, kAvg},
    {22, "host_errored_frames_avg", kF16, kWhole, kNever, Sink::kErroredFrames, kAvg, true},
    {23, "media_errored_frames_current", kF16, kWhole, kNever, Sink::kErroredFrames, kCurrent},
    {24, "host_errored_frames_current", kF16, kWhole, kNever, Sink::kErroredFrames, kCurrent, true},
    {25, "media_errored_frames_total", kF16, kWhole, kNever, Sink::kErroredFrames, kTotal},
    {26, "host_errored_frames_total", kF16, kWhole, kNever, Sink::kErroredFrames, kTotal, true},
    {27, "media_fec_tail_symbols_min", kU16, kWhole, 0xffff, Sink::kTail, kMin},
    {28, "host_fec_tail_symbols_min", kU16, kWhole, 0xffff, Sink::kTail, kMin, true},
    {29, "media_fec_tail_symbols_max", kU16, kWhole, 0xffff, Sink::kTail, kMax},
    {30, "host_fec_tail_symbols_max", kU16, kWhole, 0xffff, Sink::kTail, kMax, true},
    {31, "media_fec_tail_symbols_avg", kU16, kWhole, 0xffff, Sink::kTail, kAvg},
    {32, "host_fec_tail_symbols_avg", kU16, kWhole, 0xffff, Sink::kTail, kAvg, true},
    {33, "media_fec_tail_symbols_current", kU16, kWhole, 0xffff, Sink::kTail, kCurrent},
    {34, "host_fec_tail_symbols_current", kU16, kWhole, 0xffff, Sink::kTail, kCurrent, true},
    // Types 35 to 76 are reserved. Of 84, what an external laser gives a co-packaged module, no
    // port here has one. What stands in no row is kept by its number, its flags only.
    of_vdm(77, "vcc2p6_v", kU16, kTenThousandths, 0, &ModuleVdm::vcc2p6_v),
    of_vdm(78, "vcc1p8_v", kU16, kTenThousandths, 0, &ModuleVdm::vcc1p8_v),
    of_vdm(79, "vcc1p2_v", kU16, kTenThousandths, 0, &ModuleVdm::vcc1p2_v),
    of_vdm(80, "vcc0p9_v", kU16, kTenThousandths, 0, &ModuleVdm::vcc0p9_v),
    of_vdm(81, "vcc0p7a_v", kU16, kTenThousandths, 0, &ModuleVdm::vcc0p7a_v),
    of_vdm(82, "vcc0p7b_v", kU16, kTenThousandths, 0, &ModuleVdm::vcc0p7b_v),
    of_vdm(83, "vcc12_v", kU16, kQuarterThousandths, 0, &ModuleVdm::vcc12_v),
    // Which ones there are, with their scales: C-CMIS 1.1 as sonic-platform-common's
    // codes/public/cmis.py has it.
    of_modulator(128, "coherent_modulator_bias_xi_percent",
                 &ModuleCoherent::modulator_bias_xi_percent),
    of_modulator(129, "coherent_modulator_bias_xq_percent",
                 &ModuleCoherent::modulator_bias_xq_percent),
    of_modulator(130, "coherent_modulator_bias_yi_percent",
                 &ModuleCoherent::modulator_bias_yi_percent),
    of_modulator(131, "coherent_modulator_bias_yq_percent",
                 &ModuleCoherent::modulator_bias_yq_percent),
    of_modulator(132, "coherent_modulator_bias_x_phase_percent",
                 &ModuleCoherent::modulator_bias_x_phase_percent),
    of_modulator(133, "coherent_modulator_bias_y_phase_percent",
                 &ModuleCoherent::modulator_bias_y_phase_percent),
    of_coherent(134, "coherent_chromatic_dispersion_ps_per_nm", kS16, kWhole,
                &ModuleCoherent::chromatic_dispersion_ps_per_nm, Worst::kMagnitude),
    coarse(of_coherent(135, "coherent_chromatic_dispersion_ps_per_nm", kS16, kTwenties,
                       &ModuleCoherent::chromatic_dispersion_ps_per_nm, Worst::kMagnitude)),
    of_coherent(136, "coherent_dgd_ps", kU16, kHundredths, &ModuleCoherent::dgd_ps,
                Worst::kLargest),
    of_coherent(137, "coherent_sopmd_ps2", kU16, kHundredths, &ModuleCoherent::sopmd_ps2,
                Worst::kLargest),
    of_coherent(138, "coherent_pdl_db", kU16, kTenths, &ModuleCoherent::pdl_db, Worst::kLargest),
    of_coherent(139, "coherent_osnr_db", kU16, kTenths, &ModuleCoherent::osnr_db, Worst::kSmallest),
    of_coherent(140, "coherent_esnr_db", kU16, kTenths, &ModuleCoherent::esnr_db, Worst::kSmallest),
    of_coherent(141, "coherent_carrier_frequency_offset_mhz", kS16, kWhole,
                &ModuleCoherent::carrier_frequency_offset_mhz, Worst::kMagnitude),
    of_coherent(142, "coherent_evm_percent", kU16, kPercentOfU16, &ModuleCoherent::evm_percent,
                Worst::kLargest),
    of_coherent(143, "coherent_tx_power_dbm", kS16, kHundredths, &ModuleCoherent::tx_power_dbm,
                Worst::kSmallest),
    of_coherent(144, "coherent_rx_total_power_dbm", kS16, kHundredths,
                &ModuleCoherent::rx_total_power_dbm, Worst::kSmallest),
    of_coherent(145, "coherent_rx_signal_power_dbm", kS16, kHundredths,
                &ModuleCoherent::rx_signal_power_dbm, Worst::kSmallest),
    of_coherent(146, "coherent_sop_rate_krad_per_s", kU16, kWhole,
                &ModuleCoherent::sop_rate_krad_per_s, Worst::kLargest),
    of_coherent(147, "coherent_mer_db", kU16, kTenths, &ModuleCoherent::mer_db, Worst::kSmallest),
    of_flags(148, "coherent_clock_recovery"),
    coarse(of_coherent(149, "coherent_sopmd_ps2", kU16, kWhole, &ModuleCoherent::sopmd_ps2,
                       Worst::kLargest)),
    // C-CMIS 1.3 table 8, as V. Jardin's cmis-vdm.c for ethtool (2026) has it; sonic-mgmt's plan of
    // VDM tests has the same names in the same order, and the one dump with them agrees: its Q
    // factor is that of its pre-FEC BER within 0.1 dB (ModuleCorpus). Of 148 and 153 (a frequency
    // offset in larger steps) no dump could tell the scale.
    of_coherent(150, "coherent_snr_margin_db", kS16, kTenths, &ModuleCoherent::snr_margin_db,
                Worst::kSmallest),
    of_coherent(151, "coherent_q_factor_db", kU16, kTenths, &ModuleCoherent::q_factor_db,
                Worst::kSmallest),
    of_coherent(152, "coherent_q_margin_db", kS16, kTenths, &ModuleCoherent::q_margin_db,
                Worst::kSmallest),
    of_flags(153, "coherent_carrier_frequency_offset_mhz"),
};

// Where the text of SFF-8636 6.7.4.4 names other type numbers than its table 6-43, the table is
// followed.
constexpr Observable kSff8636[] = {
    {1, "media_esnr_db", kU16, k256ths, 0, Sink::kEsnr},
    of_flags(2, "residual_dispersion"),
    {3, "media_ltp_db", kU16, k256ths, 0, Sink::kLtp},
    {4, "media_pre_fec_ber_avg", kF16, kWhole, kNever, Sink::kBer, kAvg},
    of_flags(5, "media_frame_errors_per_s_avg"),
    of_module(6, "tec_current_ma", kS16, kTenths, kLowest, &ModuleSample::tec_current_ma,
              Worst::kMagnitude),
    of_vdm(7, "laser_frequency_error_mhz", kS16, kTens, kLowest,
           &ModuleVdm::laser_frequency_error_mhz, Worst::kMagnitude),
    of_flags(8, "laser_temperature_c"),
    {9, "media_pre_fec_ber_min", kF16, kWhole, kNever, Sink::kBer, kMin},
    {10, "media_pre_fec_ber_max", kF16, kWhole, kNever, Sink::kBer, kMax},
    of_flags(11, "media_pre_fec_ber_prior"),
    {12, "media_pre_fec_ber_current", kF16, kWhole, kNever, Sink::kBer, kCurrent},
    of_flags(13, "media_frame_errors_per_s_min"),
    of_flags(14, "media_frame_errors_per_s_max"),
    of_flags(15, "media_frame_errors_per_s_prior"),
    of_flags(16, "media_frame_errors_per_s_current"),
};

static_assert(std::ranges::is_sorted(kCmis, {}, &Observable::type));
static_assert(std::ranges::is_sorted(kSff8636, {}, &Observable::type));

}  // namespace

std::span<const Observable> cmis_observables() { return kCmis; }
std::span<const Observable> sff8636_observables() { return kSff8636; }

}  // namespace linkhealth
