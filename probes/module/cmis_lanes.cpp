#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "probes/module/cmis_applications.h"
#include "probes/module/codes.h"
#include "probes/module/maps.h"
#include "probes/module/monitors.h"
#include "probes/module/other_flags.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr unsigned kLanesPerBank = 8;

/// A latched flag of page 11h: one bit for each lane of the bank, valid when page 01h offers it.
struct LaneFlag {
  std::optional<bool> ModuleLane::*field;
  std::uint8_t offset;
  std::uint8_t advert_offset, advert_bit;
};
constexpr LaneFlag kMediaFlags[] = {
    {&ModuleLane::tx_fault, 135, 157, 0},
    {&ModuleLane::rx_los, 147, 158, 1},
    {&ModuleLane::rx_lol, 148, 158, 2},
};

struct HostFlag {
  std::optional<bool> ModuleHostLane::*field;
  std::uint8_t offset;
  std::uint8_t advert_offset, advert_bit;
};
constexpr HostFlag kHostFlags[] = {
    {&ModuleHostLane::tx_los, 136, 157, 1},
    {&ModuleHostLane::tx_lol, 137, 157, 2},
    {&ModuleHostLane::tx_eq_fault, 138, 157, 3},
};

/// A monitor of page 11h with its four flag bytes (high alarm, low alarm, high warning, low
/// warning).
struct LaneMonitor {
  std::optional<double> ModuleLane::*value;
  AlarmFlags ModuleLane::*flags;
  std::uint8_t offset, flags_offset;
  std::uint8_t advert_bit;  ///< of 01h:160
};
constexpr LaneMonitor kMonitors[] = {
    {&ModuleLane::tx_power_mw, &ModuleLane::tx_power_flags, 154, 139, 1},
    {&ModuleLane::tx_bias_ma, &ModuleLane::tx_bias_flags, 170, 143, 0},
    {&ModuleLane::rx_power_mw, &ModuleLane::rx_power_flags, 186, 149, 2},
};

struct Bank {
  ModulePage advert, control, state;
  std::uint8_t revision = 0;
  bool optical = false;
};

constexpr std::uint8_t kCmis4 = 0x40, kCmis5 = 0x50;

/// CMIS 5.4 table 8-101, a nibble; without the "Config" that each begins with. Earlier revisions
/// have no more.
std::string_view config_status_name(unsigned code) {
  constexpr std::string_view kNames[] = {"",
                                         "Success",
                                         "Rejected",
                                         "RejectedInvalidAppSel",
                                         "RejectedInvalidDataPath",
                                         "RejectedInvalidSI",
                                         "RejectedLanesInUse",
                                         "RejectedPartialDataPath",
                                         "RejectedNoEmulation"};
  if (code < std::size(kNames)) return kNames[code];
  if (code == 0x0c) return "InProgress";
  return code > 0x0c ? "RejectedCustom" : "RejectedReserved";
}

/// The nibble of a lane: the first of two has the low one.
std::optional<unsigned> nibble(const ModulePage& page, unsigned offset, unsigned index) {
  const auto pair = page.byte(offset + index / 2);
  return pair ? std::optional((*pair >> (index % 2 == 0 ? 0U : 4U)) & 0x0fU) : std::nullopt;
}

const ModuleQuantity& quantity_of(std::uint8_t advert_bit) {
  if (advert_bit == 2) return kRxPowerMw;
  return advert_bit == 1 ? kTxPowerMw : kBiasMa;
}

/// With 01h:151.0 one lane's bit switches off all of them (CMIS 5.4 tables 8-50 and 8-79).
std::optional<bool> is_disabled(const Bank& bank, unsigned index) {
  const auto disabled = bank.control.byte(130);
  if (!disabled) return std::nullopt;
  return bank.advert.offers(151, 0) ? *disabled != 0 : (*disabled >> index & 1U) != 0;
}

ModuleLane read_media_lane(const Bank& bank, unsigned index, unsigned lane,
                           ModuleWarnings& warnings) {
  ModuleLane out;
  for (const LaneFlag& flag : kMediaFlags)
    if (bank.advert.offers(flag.advert_offset, flag.advert_bit))
      out.*flag.field = bank.state.bit(flag.offset, index);
  out.tx_disabled = is_disabled(bank, index);
  if (bank.advert.offers(155, 3)) out.tx_squelched = bank.control.bit(132, index);
  if (bank.revision >= kCmis5)
    out.tx_output_valid = bank.state.bit(133, index);  // reserved, reads 0, before
  if (!bank.optical) return out;
  for (const LaneMonitor& monitor : kMonitors) {
    if (!bank.advert.offers(160, monitor.advert_bit)) continue;
    const auto at = [&](unsigned i) { return bank.state.bit(monitor.flags_offset + i, index); };
    out.*monitor.flags = {
        .low_alarm = at(1), .low_warn = at(3), .high_warn = at(2), .high_alarm = at(0)};
    const auto bias = cmis_bias(bank.advert);
    if (monitor.advert_bit == 0 && !bias)
      continue;  // a reserved multiplier: the scale is not known
    const ModuleQuantity& quantity =
        monitor.advert_bit == 0 ? *bias : quantity_of(monitor.advert_bit);
    out.*monitor.value =
        read_monitor(bank.state, monitor.offset + 2 * index, quantity, lane, warnings);
  }
  return out;
}

ModuleHostLane read_host_lane(const Bank& bank, unsigned index) {
  ModuleHostLane out;
  if (const auto state = nibble(bank.state, 128, index))
    out.data_path_state = data_path_state_name(static_cast<std::uint8_t>(*state));
  if (const auto status = nibble(bank.state, 202, index))
    out.config_status = config_status_name(*status);
  if (const auto app = bank.state.byte(206 + index)) out.in_use = (*app >> 4U) != 0;
  for (const HostFlag& flag : kHostFlags)
    if (bank.advert.offers(flag.advert_offset, flag.advert_bit))
      out.*flag.field = bank.state.bit(flag.offset, index);
  out.data_path_changed = bank.state.bit(134, index);
  // CMIS 3.0 had the opposite sense in this byte: a 1 asked for the data path.
  if (bank.revision >= kCmis4) out.deinit_requested = bank.control.bit(128, index);
  if (bank.advert.offers(156, 1)) out.rx_output_disabled = bank.control.bit(138, index);
  if (bank.revision < kCmis5) return out;  // reserved, reads 0, before
  out.rx_output_valid = bank.state.bit(132, index);
  out.rx_output_changed = bank.state.bit(153, index);
  return out;
}

/// The host's signal as a media lane sees it: lost when one of the host lanes that feed it has lost
/// it.
std::optional<bool> any_of_share(const std::vector<ModuleHostLane>& host, HostShare share,
                                 std::optional<bool> ModuleHostLane::*field) {
  const std::size_t end = std::min(host.size(), share.end);
  if (share.first >= end) return std::nullopt;
  return any_says(std::span(host).subspan(share.first, end - share.first), field);
}

/// No application runs over the host lanes that feed it: the other half of a module that is used in
/// part.
bool is_idle(const std::vector<ModuleHostLane>& host, HostShare share) {
  const std::size_t end = std::min(host.size(), share.end);
  if (share.first >= end) return false;
  for (std::size_t i = share.first; i < end; ++i)
    if (host[i].in_use.value_or(true) && host[i].data_path_state != "Deactivated") return false;
  return true;
}

/// Byte 00h:210 has a bit for each of media lanes 1 to 8 that is not there (CMIS 5.2, 8.3.7): lanes
/// of bank 0. Nothing says it of later banks, whose lanes follow on the ones that bank 0 has.
bool is_missing(const ModulePage& identity, std::size_t per_bank, std::size_t lane) {
  const unsigned mask = identity.byte(210).value_or(0);
  const unsigned not_there = mask == 0xff ? 0U : mask;  // of all lanes: it was not filled in
  return lane < per_bank && (not_there >> lane & 1U) != 0;
}

/// A read has cleared them all the same: they are kept under names of their own, which no rule
/// knows.
void keep_flags_of_unused(const ModuleLane& lane, std::uint32_t number, ModuleSample& sample) {
  take_other_flag("unused_tx_fault", number, lane.tx_fault, sample);
  take_other_flag("unused_rx_los", number, lane.rx_los, sample);
  take_other_flag("unused_rx_lol", number, lane.rx_lol, sample);
  take_other_flags("unused_rx_power", number, lane.rx_power_flags, sample);
  take_other_flags("unused_tx_power", number, lane.tx_power_flags, sample);
  take_other_flags("unused_tx_bias", number, lane.tx_bias_flags, sample);
}
void keep_flags_of_unused(const LaserTuning& laser, std::uint32_t number, ModuleSample& sample) {
  take_other_flag("unused_laser_wavelength_unlocked", number, laser.wavelength_unlocked, sample);
  take_other_flag("unused_laser_channel_invalid", number, laser.channel_invalid, sample);
  take_other_flag("unused_laser_tuning_not_accepted", number, laser.tuning_not_accepted, sample);
  take_other_flag("unused_laser_fine_tuning_out_of_range", number, laser.fine_tuning_out_of_range,
                  sample);
  take_other_flag("unused_laser_target_power_out_of_range", number, laser.target_power_out_of_range,
                  sample);
}

/// What such a lane says is of nobody's light. A module that says it of every lane was not set up
/// yet, or does not know.
void forget_idle_lanes(const ModulePage& identity, const CmisLanes& lanes, ModuleSample& sample) {
  std::vector<std::size_t> idle;
  for (std::size_t lane = 0; lane < sample.lanes.size(); ++lane)
    if (is_missing(identity, lanes.media_per_bank, lane) ||
        is_idle(sample.host_lanes, host_share(lanes, lane)))
      idle.push_back(lane);
  if (idle.size() == sample.lanes.size()) return;
  for (const std::size_t lane : idle) {
    const auto number = static_cast<std::uint32_t>(lane + 1);
    keep_flags_of_unused(std::exchange(sample.lanes[lane], ModuleLane{}), number, sample);
    if (lane < sample.laser_tuning.size())
      keep_flags_of_unused(std::exchange(sample.laser_tuning[lane], LaserTuning{}), number, sample);
  }
}

/// Page 14h holds signal-to-noise ratios only while somebody has selected them (06h); little
/// endian, unlike the rest. It may be banked (CMIS 5.4 8.17): each bank has a selector of its own
/// and its own lanes.
void read_snr(const ModulePage& page, std::size_t first_lane, std::size_t lanes, unsigned base,
              std::vector<double>& out, ModuleWarnings& warnings) {
  if (page.byte(128) != kRatiosSelected) return;
  for (unsigned i = 0; i < lanes; ++i) {
    const auto low = page.byte(base + 2 * i);
    const auto high = page.byte(base + 2 * i + 1);
    if (!low || !high) return;
    const double snr_db = believed_snr_db(((*high << 8) | *low) / 256.0, warnings).value_or(0);
    if (snr_db == 0) continue;
    out.resize(std::max(out.size(), first_lane + i + 1), 0.0);
    out[first_lane + i] = snr_db;
  }
}

}  // namespace

void decode_cmis_lanes(const ModuleImage& image, const CmisLanes& lanes, MediaSide side,
                       ModuleSample& sample) {
  const ModulePage advert = upper_page(image, 0x01);
  const std::uint8_t revision = lower_page(image).byte(1).value_or(0);
  const unsigned banks = cmis_bank_count(image);
  const std::size_t per_bank = side == MediaSide::kNone ? 0 : lanes.media_per_bank;
  for (std::uint8_t number = 0; number < banks; ++number) {
    const Bank bank{advert, upper_page(image, 0x10, number), upper_page(image, 0x11, number),
                    revision, side == MediaSide::kOptical};
    // A driver that ignores the bank gives those of bank 0.
    if (number == 0 || bank.state.exists()) decode_cmis_tests(image, lanes, number, sample);
    if (!bank.state.exists()) {
      // Lanes of later banks keep their numbers: an unread bank leaves lanes without values before
      // them.
      sample.warnings.push_back(
          number == 0
              ? "page 11h was not read: nothing is known of the lanes"
              : fmt::format("page 11h of bank {} was not read: its lanes are not known", number));
      continue;
    }
    sample.host_lanes.resize(std::size_t{number} * kLanesPerBank);
    sample.lanes.resize(std::size_t{number} * per_bank);
    for (unsigned i = 0; i < kLanesPerBank; ++i)
      sample.host_lanes.push_back(read_host_lane(bank, i));
    for (unsigned i = 0; i < per_bank; ++i)
      sample.lanes.push_back(read_media_lane(
          bank, i, static_cast<unsigned>(number * per_bank) + i + 1, sample.warnings));
  }
  // Unused host lanes at the end are no lanes of this module (four-lane modules in the eight-lane
  // map).
  const std::size_t host_lanes = std::size_t{banks - 1} * kLanesPerBank + lanes.host_per_bank;
  if (lanes.host_per_bank != 0 && host_lanes < sample.host_lanes.size())
    sample.host_lanes.resize(host_lanes);
  for (std::size_t lane = 0; lane < sample.lanes.size(); ++lane) {
    const HostShare share = host_share(lanes, lane);
    sample.lanes[lane].tx_los = any_of_share(sample.host_lanes, share, &ModuleHostLane::tx_los);
    sample.lanes[lane].tx_lol = any_of_share(sample.host_lanes, share, &ModuleHostLane::tx_lol);
    sample.lanes[lane].tx_eq_fault =
        any_of_share(sample.host_lanes, share, &ModuleHostLane::tx_eq_fault);
  }
  if (sample.kind == "optical") decode_cmis_fibres(image, sample);  // a cable's are its maker's
  if (cmis_is_tunable(image)) decode_cmis_tuning(image, per_bank, sample);
  forget_idle_lanes(upper_page(image, 0x00), lanes, sample);
  for (std::uint8_t number = 0; vdm_group_count(image) == 0 && number < banks; ++number) {
    const ModulePage page = upper_page(image, 0x14, number);
    if (number != 0 && !upper_page(image, 0x11, number).exists())
      continue;  // a driver that ignores the bank gives those of bank 0
    read_snr(page, number * per_bank, per_bank, 240, sample.vdm.media_esnr_db, sample.warnings);
    read_snr(page, std::size_t{number} * kLanesPerBank, kLanesPerBank, 208, sample.vdm.host_esnr_db,
             sample.warnings);
  }
}

}  // namespace linkhealth
