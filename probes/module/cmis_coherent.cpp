#include <fmt/format.h>

#include "probes/module/maps.h"
#include "probes/module/observables.h"

namespace linkhealth {

namespace {

enum class Coding : std::uint8_t { kU16, kS16, kS32 };

/// Average, minimum and maximum of one quantity, one after the other.
struct LinkRow {
  std::string_view name;
  std::uint8_t offset;
  Coding coding;
  ObservableScale scale;
  VdmStatistics CoherentStatistics::*field;
};
constexpr LinkRow kLink[] = {
    {"chromatic dispersion", 128, Coding::kS32, kWhole,
     &CoherentStatistics::chromatic_dispersion_ps_per_nm},
    {"DGD", 140, Coding::kU16, kHundredths, &CoherentStatistics::dgd_ps},
    {"SOPMD", 146, Coding::kU16, kHundredths, &CoherentStatistics::sopmd_ps2},
    {"PDL", 152, Coding::kU16, kTenths, &CoherentStatistics::pdl_db},
    {"OSNR", 158, Coding::kU16, kTenths, &CoherentStatistics::osnr_db},
    {"eSNR", 164, Coding::kU16, kTenths, &CoherentStatistics::esnr_db},
    {"carrier frequency offset", 170, Coding::kS16, kWhole,
     &CoherentStatistics::carrier_frequency_offset_mhz},
    {"EVM", 176, Coding::kU16, kPercentOfU16, &CoherentStatistics::evm_percent},
    {"Tx power", 182, Coding::kS16, kHundredths, &CoherentStatistics::tx_power_dbm},
    {"Rx total power", 188, Coding::kS16, kHundredths, &CoherentStatistics::rx_total_power_dbm},
    {"Rx signal power", 194, Coding::kS16, kHundredths, &CoherentStatistics::rx_signal_power_dbm},
    {"SOP rate", 200, Coding::kU16, kWhole, &CoherentStatistics::sop_rate_krad_per_s},
    {"MER", 206, Coding::kU16, kTenths, &CoherentStatistics::mer_db},
};

struct CountRow {
  std::uint8_t offset, bytes;
  std::optional<std::uint64_t> CoherentStatistics::*field;
};
constexpr CountRow kFec[] = {
    {128, 8, &CoherentStatistics::rx_bits},
    {144, 8, &CoherentStatistics::rx_corrected_bits},
    {168, 4, &CoherentStatistics::rx_frames},
    {176, 4, &CoherentStatistics::rx_uncorrectable_frames},
};

/// A latched flag of page 33h, and the byte of page 44h that offers it in the same bit.
struct FlagRow {
  std::optional<bool> CoherentFlags::*field;
  std::uint8_t at, offered_at, bit;
};
constexpr FlagRow kCoherentFlags[] = {
    {&CoherentFlags::tx_loss_of_alignment, 128, 128, 5},
    {&CoherentFlags::tx_out_of_alignment, 128, 128, 4},
    {&CoherentFlags::tx_cmu_lol, 128, 128, 3},
    {&CoherentFlags::tx_reference_clock_lol, 128, 128, 2},
    {&CoherentFlags::tx_deskew_lol, 128, 128, 1},
    {&CoherentFlags::tx_fifo_error, 128, 128, 0},
    {&CoherentFlags::rx_loss_of_frame, 130, 129, 7},
    {&CoherentFlags::rx_loss_of_multi_frame, 130, 129, 6},
    {&CoherentFlags::rx_demodulator_lol, 130, 129, 5},
    {&CoherentFlags::rx_dispersion_lol, 130, 129, 4},
    {&CoherentFlags::rx_loss_of_alignment, 130, 129, 3},
    {&CoherentFlags::rx_out_of_alignment, 130, 129, 2},
    {&CoherentFlags::rx_deskew_lol, 130, 129, 1},
    {&CoherentFlags::rx_fifo_error, 130, 129, 0},
};

std::optional<double> register_at(const ModulePage& page, unsigned offset, Coding coding) {
  if (coding == Coding::kS32) {
    const auto raw = page.u32(offset);
    return raw ? std::optional<double>(static_cast<std::int32_t>(*raw)) : std::nullopt;
  }
  const auto raw = page.u16(offset);
  if (!raw) return std::nullopt;
  return coding == Coding::kS16 ? static_cast<double>(static_cast<std::int16_t>(*raw))
                                : static_cast<double>(*raw);
}

void read_link_row(const ModulePage& page, const LinkRow& row, ModuleSample& sample) {
  const unsigned width = row.coding == Coding::kS32 ? 4 : 2;
  const auto avg = register_at(page, row.offset, row.coding);
  const auto min = register_at(page, row.offset + width, row.coding);
  const auto max = register_at(page, row.offset + 2 * width, row.coding);
  if (!avg || !min || !max || (*avg == 0 && *min == 0 && *max == 0)) return;
  if (*min <= *avg && *avg <= *max) {
    sample.coherent_statistics.*row.field = {.min = row.scale.of(*min),
                                             .max = row.scale.of(*max),
                                             .avg = row.scale.of(*avg),
                                             .current = std::nullopt,
                                             .total = std::nullopt};
    return;
  }
  sample.warnings.push_back(fmt::format("statistics of {} are not in order: left out", row.name));
}

std::optional<std::uint64_t> count_at(const ModulePage& page, const CountRow& row) {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < row.bytes; ++i) {
    const auto byte = page.byte(row.offset + i);
    if (!byte) return std::nullopt;
    count = (count << 8U) | *byte;
  }
  return count;
}

}  // namespace

void decode_cmis_coherent(const ModuleImage& image, ModuleSample& sample) {
  if (!upper_page(image, 0x01).offers(142, 4)) return;
  const ModulePage link = upper_page(image, 0x35);
  for (const LinkRow& row : kLink) read_link_row(link, row, sample);
  const ModulePage flags = upper_page(image, 0x33), offered = upper_page(image, 0x44);
  for (const FlagRow& row : kCoherentFlags)
    if (offered.offers(row.offered_at, row.bit))
      sample.coherent_flags.*row.field = flags.bit(row.at, row.bit);
  const ModulePage fec = upper_page(image, 0x34);
  CoherentStatistics& out = sample.coherent_statistics;
  for (const CountRow& row : kFec) out.*row.field = count_at(fec, row);
  if (out.rx_bits.value_or(0) == 0) {  // nothing was counted
    out.rx_bits = out.rx_corrected_bits = out.rx_frames = out.rx_uncorrectable_frames =
        std::nullopt;
  } else if (out.rx_corrected_bits && *out.rx_corrected_bits > *out.rx_bits) {
    sample.warnings.emplace_back(
        "the receiver corrected more bits than it received: its FEC counts are left out");
    out.rx_bits = out.rx_corrected_bits = out.rx_frames = out.rx_uncorrectable_frames =
        std::nullopt;
  }
}

}  // namespace linkhealth
