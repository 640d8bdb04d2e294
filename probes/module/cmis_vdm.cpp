#include <algorithm>
#include <array>
#include <cmath>

#include "probes/module/maps.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr unsigned kInstancesPerGroup = 64;
constexpr unsigned kLanesPerBank = 8;

/// How the two bytes of a value are read.
enum class Coding : std::uint8_t { kU16, kS16, kF16 };

/// What a value goes into. Odd types of a pair are the media side, even ones the host side.
enum class Sink : std::uint8_t { kEsnr, kLtp, kBer, kFerc, kTail, kScalar, kCoherent };
enum class Part : std::uint8_t { kNone, kMin, kMax, kAvg, kCurrent, kTotal };

struct Observable {
  std::uint8_t type;
  Coding coding;
  double scale;
  std::uint16_t not_available;  ///< the raw value that means "no value" (CMIS 5.3, 7.10.2)
  Sink sink;
  Part part;
  bool host;
  std::optional<double> ModuleVdm::*scalar = nullptr;
  std::optional<double> ModuleCoherent::*coherent = nullptr;
};

constexpr std::uint16_t kNever = 0xffff;  // for codings whose every value is one: an undriven bus is still refused

constexpr Observable scalar(std::uint8_t type, Coding coding, double scale, std::uint16_t not_available,
                            std::optional<double> ModuleVdm::*field) {
  return {type, coding, scale, not_available, Sink::kScalar, Part::kNone, false, field, nullptr};
}
constexpr Observable coherent(std::uint8_t type, Coding coding, double scale,
                              std::optional<double> ModuleCoherent::*field) {
  const std::uint16_t none = coding == Coding::kS16 ? 0x8000 : kNever;
  return {type, coding, scale, none, Sink::kCoherent, Part::kNone, false, nullptr, field};
}

// CMIS 5.4 table 8-172 and C-CMIS 1.3: the type ids of VDM observables.
constexpr Observable kObservables[] = {
    scalar(1, Coding::kU16, 1, 0xffff, &ModuleVdm::laser_age_percent),
    scalar(3, Coding::kS16, 10, 0x8000, &ModuleVdm::laser_frequency_error_mhz),
    {5, Coding::kU16, 1.0 / 256, 0, Sink::kEsnr, Part::kNone, false},
    {6, Coding::kU16, 1.0 / 256, 0, Sink::kEsnr, Part::kNone, true},
    {7, Coding::kU16, 1.0 / 256, 0, Sink::kLtp, Part::kNone, false},
    {8, Coding::kU16, 1.0 / 256, 0, Sink::kLtp, Part::kNone, true},
    {9, Coding::kF16, 1, kNever, Sink::kBer, Part::kMin, false},
    {10, Coding::kF16, 1, kNever, Sink::kBer, Part::kMin, true},
    {11, Coding::kF16, 1, kNever, Sink::kBer, Part::kMax, false},
    {12, Coding::kF16, 1, kNever, Sink::kBer, Part::kMax, true},
    {13, Coding::kF16, 1, kNever, Sink::kBer, Part::kAvg, false},
    {14, Coding::kF16, 1, kNever, Sink::kBer, Part::kAvg, true},
    {15, Coding::kF16, 1, kNever, Sink::kBer, Part::kCurrent, false},
    {16, Coding::kF16, 1, kNever, Sink::kBer, Part::kCurrent, true},
    {17, Coding::kF16, 1, kNever, Sink::kFerc, Part::kMin, false},
    {18, Coding::kF16, 1, kNever, Sink::kFerc, Part::kMin, true},
    {19, Coding::kF16, 1, kNever, Sink::kFerc, Part::kMax, false},
    {20, Coding::kF16, 1, kNever, Sink::kFerc, Part::kMax, true},
    {21, Coding::kF16, 1, kNever, Sink::kFerc, Part::kAvg, false},
    {22, Coding::kF16, 1, kNever, Sink::kFerc, Part::kAvg, true},
    {23, Coding::kF16, 1, kNever, Sink::kFerc, Part::kCurrent, false},
    {24, Coding::kF16, 1, kNever, Sink::kFerc, Part::kCurrent, true},
    {25, Coding::kF16, 1, kNever, Sink::kFerc, Part::kTotal, false},
    {26, Coding::kF16, 1, kNever, Sink::kFerc, Part::kTotal, true},
    {27, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kMin, false},
    {28, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kMin, true},
    {29, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kMax, false},
    {30, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kMax, true},
    {31, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kAvg, false},
    {32, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kAvg, true},
    {33, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kCurrent, false},
    {34, Coding::kU16, 1, 0xffff, Sink::kTail, Part::kCurrent, true},
    coherent(128, Coding::kU16, 100.0 / 65535, &ModuleCoherent::modulator_bias_xi_percent),
    coherent(129, Coding::kU16, 100.0 / 65535, &ModuleCoherent::modulator_bias_xq_percent),
    coherent(130, Coding::kU16, 100.0 / 65535, &ModuleCoherent::modulator_bias_yi_percent),
    coherent(131, Coding::kU16, 100.0 / 65535, &ModuleCoherent::modulator_bias_yq_percent),
    coherent(132, Coding::kU16, 100.0 / 65535, &ModuleCoherent::modulator_bias_x_phase_percent),
    coherent(133, Coding::kU16, 100.0 / 65535, &ModuleCoherent::modulator_bias_y_phase_percent),
    coherent(134, Coding::kS16, 1, &ModuleCoherent::chromatic_dispersion_ps_per_nm),
    coherent(135, Coding::kS16, 20, &ModuleCoherent::chromatic_dispersion_ps_per_nm),
    coherent(136, Coding::kU16, 0.01, &ModuleCoherent::dgd_ps),
    coherent(137, Coding::kU16, 0.01, &ModuleCoherent::sopmd_ps2),
    coherent(138, Coding::kU16, 0.1, &ModuleCoherent::pdl_db),
    coherent(139, Coding::kU16, 0.1, &ModuleCoherent::osnr_db),
    coherent(140, Coding::kU16, 0.1, &ModuleCoherent::esnr_db),
    coherent(141, Coding::kS16, 1, &ModuleCoherent::carrier_frequency_offset_mhz),
    coherent(142, Coding::kU16, 100.0 / 65535, &ModuleCoherent::evm_percent),
    coherent(143, Coding::kS16, 0.01, &ModuleCoherent::tx_power_dbm),
    coherent(144, Coding::kS16, 0.01, &ModuleCoherent::rx_total_power_dbm),
    coherent(145, Coding::kS16, 0.01, &ModuleCoherent::rx_signal_power_dbm),
    coherent(146, Coding::kU16, 1, &ModuleCoherent::sop_rate_krad_per_s),
    coherent(147, Coding::kU16, 0.1, &ModuleCoherent::mer_db),
    coherent(149, Coding::kU16, 1, &ModuleCoherent::sopmd_ps2),
};

const Observable* find_observable(std::uint8_t type) {
  const auto* row = std::find_if(std::begin(kObservables), std::end(kObservables),
                                 [&](const Observable& o) { return o.type == type; });
  return row == std::end(kObservables) ? nullptr : row;
}

/// CMIS 8.19.1: an 11 bit mantissa and a 5 bit exponent of ten, offset 24.
double from_f16(std::uint16_t raw) { return (raw & 0x7ffU) * std::pow(10.0, static_cast<int>(raw >> 11U) - 24); }

std::optional<double> value_of(const Observable& row, std::uint16_t raw) {
  if (raw == 0xffff && row.coding != Coding::kS16) return std::nullopt;
  if (raw == row.not_available) return std::nullopt;
  switch (row.coding) {
    case Coding::kU16:
      return raw * row.scale;
    case Coding::kS16:
      return static_cast<std::int16_t>(raw) * row.scale;
    case Coding::kF16:
      return from_f16(raw);
  }
  return std::nullopt;
}

/// A BER is a probability; 0.5 is CMIS's "no value", and 0 from a receiver without a signal is none either (the F16 of
/// a module that counts nothing), but may be true of a perfect link: it is kept.
bool is_plausible_ber(double ber) { return ber >= 0 && ber < 0.5; }

void worst(std::optional<double>& slot, double value, bool smallest) {
  slot = !slot ? value : smallest ? std::min(*slot, value) : std::max(*slot, value);
}

template <typename Statistics>
void put(Statistics& out, Part part, double value) {
  switch (part) {
    case Part::kMin:
      return worst(out.min, value, true);
    case Part::kMax:
      return worst(out.max, value, false);
    case Part::kAvg:
      return worst(out.avg, value, false);
    case Part::kCurrent:
      return worst(out.current, value, false);
    default:
      break;
  }
  if constexpr (requires { out.total; }) worst(out.total, value, false);
}

void put_lane(std::vector<double>& lanes, unsigned lane, double value) {
  if (lanes.size() <= lane) lanes.resize(lane + 1, 0.0);
  lanes[lane] = value;
}

/// Collects values; what is per lane is put in order afterwards.
struct Collector {
  ModuleSample& sample;

  void take(const Observable& row, unsigned lane, bool has_lane, double value) {
    ModuleVdm& vdm = sample.vdm;
    switch (row.sink) {
      case Sink::kEsnr:
        return has_lane ? put_lane(row.host ? vdm.host_esnr_db : vdm.media_esnr_db, lane, value) : void();
      case Sink::kLtp:
        return has_lane ? put_lane(row.host ? vdm.host_ltp_db : vdm.media_ltp_db, lane, value) : void();
      case Sink::kBer:
        return take_ber(row, lane, has_lane, value);
      case Sink::kFerc:
        return put(row.host ? vdm.host_frame_error_ratio : vdm.media_frame_error_ratio, row.part, value);
      case Sink::kTail:
        return put(row.host ? vdm.host_fec_tail_symbols : vdm.media_fec_tail_symbols, row.part, value);
      case Sink::kScalar:
        return worst(vdm.*row.scalar, value, false);
      case Sink::kCoherent:
        sample.coherent.*row.coherent = value;
    }
  }

  void take_ber(const Observable& row, unsigned lane, bool has_lane, double value) {
    ModuleVdm& vdm = sample.vdm;
    if (!is_plausible_ber(value)) return;
    put(row.host ? vdm.host_pre_fec_ber : vdm.media_pre_fec_ber, row.part, value);
    if (!has_lane) return;
    auto& lanes = row.host ? vdm.host_pre_fec_ber_by_lane : vdm.media_pre_fec_ber_by_lane;
    if (lanes.size() <= lane) lanes.resize(lane + 1);
    put(lanes[lane], row.part, value);
  }
};

void read_group(const ModuleImage& image, std::uint8_t group, std::uint8_t bank, Collector& out) {
  const ModulePage descriptors = upper_page(image, static_cast<std::uint8_t>(0x20 + group), bank);
  const ModulePage values = upper_page(image, static_cast<std::uint8_t>(0x24 + group), bank);
  for (unsigned i = 0; i < kInstancesPerGroup; ++i) {
    const auto where = descriptors.byte(128 + 2 * i);
    const auto type = descriptors.byte(129 + 2 * i);
    const auto raw = values.u16(128 + 2 * i);
    if (!where || !type || !raw || *type == 0) continue;
    const Observable* row = find_observable(*type);
    if (row == nullptr) continue;  // a maker's own observable
    const unsigned field = *where & 0x0fU;
    const bool has_lane = field < kLanesPerBank;
    if (const auto value = value_of(*row, *raw)) out.take(*row, bank * kLanesPerBank + field, has_lane, *value);
  }
}

void drop_single(std::vector<BerStatistics>& lanes) {
  const auto filled = std::count_if(lanes.begin(), lanes.end(), [](const BerStatistics& b) { return !b.empty(); });
  if (filled <= 1) lanes.clear();
}

}  // namespace

void decode_cmis_vdm(const ModuleImage& image, ModuleSample& sample) {
  const std::uint8_t groups = vdm_group_count(image);
  if (groups == 0) return;
  const ModulePage control = upper_page(image, 0x2f);
  if (control.offers(144, 6)) {
    sample.warnings.emplace_back("VDM is in power saving: its values are old and left out");
    return;
  }
  Collector out{sample};
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (std::uint8_t group = 0; group < groups; ++group) read_group(image, group, bank, out);
  drop_single(sample.vdm.media_pre_fec_ber_by_lane);
  drop_single(sample.vdm.host_pre_fec_ber_by_lane);
  if (control.offers(144, 7)) {
    sample.vdm.frozen = true;
    sample.warnings.emplace_back("another agent has frozen the VDM statistics: they are old");
  }
}

}  // namespace linkhealth
