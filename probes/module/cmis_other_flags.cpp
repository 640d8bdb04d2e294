#include "probes/module/cmis_applications.h"
#include "probes/module/maps.h"
#include "probes/module/monitors.h"
#include "probes/module/other_flags.h"

namespace linkhealth {

namespace {

constexpr unsigned kLanesPerBank = 8;
constexpr std::uint8_t kTuningPage = 0x12, kTestPage = 0x13, kTestFlagsPage = 0x14,
                       kNetworkPathPage = 0x17;

/// 8.6 and 8.7 (CMIS 5.4 table 8-9): a command of CDB has ended. How many instances of it there
/// are, 01h:163 says.
void take_cdb_flags(const ModulePage& lower, const ModulePage& advert, ModuleSample& sample) {
  const unsigned instances = advert.byte(163).value_or(0) >> 6U;
  if (instances == 1 || instances == 2)
    take_other_flag("cdb_1_complete", {}, lower.bit(8, 6), sample);
  if (instances == 2) take_other_flag("cdb_2_complete", {}, lower.bit(8, 7), sample);
}

/// A byte with a bit for each lane of the bank. `advert`, of which one is enough, on page 13h.
struct LaneByte {
  std::string_view name;
  std::uint8_t at;
  bool of_host;
  AdvertBit advert, or_advert;
};
/// CMIS 5.4 table 8-138, with what tables 8-112 and 8-114 say of the parts whose flags these are.
/// Only of a dump: the daemon leaves them to whoever tests the line.
constexpr LaneByte kTestFlags[] = {
    {"host_pattern_gating_complete", 134, true, {131, 0}, {131, 1}},
    {"media_pattern_gating_complete", 135, false, {131, 4}, {131, 5}},
    {"host_pattern_generator_lol", 136, true, {131, 2}, {131, 3}},
    {"media_pattern_generator_lol", 137, false, {131, 6}, {131, 7}},
    {"host_pattern_checker_lol", 138, true, {131, 0}, {131, 1}},
    {"media_pattern_checker_lol", 139, false, {131, 4}, {131, 5}},
};
constexpr std::uint8_t kGatingComplete =
    135;  ///< the last of them; 13h:129.7 and .6 say whether a check ends by itself

bool is_offered(const ModulePage& tests, const LaneByte& row) {
  if (row.at <= kGatingComplete && !tests.offers(129, 6) && !tests.offers(129, 7)) return false;
  return is_offered(tests, row.advert) || is_offered(tests, row.or_advert);
}

/// The lanes of one side of the bank.
struct BankLanes {
  std::size_t first = 0, count = 0;
};

/// Page 11h's flags of media lanes, for a module of which no media lane is told: a plug that sends
/// back what comes, or one of a medium that is not known.
constexpr LaneByte kMediaFlags[] = {
    {"media_tx_fault", 135, false, {157, 0}, {157, 0}},
    {"media_rx_los", 147, false, {158, 1}, {158, 1}},
    {"media_rx_lol", 148, false, {158, 2}, {158, 2}},
};
/// Those of light, for one that has none: what a copper cable means by them only its maker knows.
constexpr LaneByte kLightFlags[] = {
    {"media_tx_power_high_alarm", 139, false, {160, 1}, {160, 1}},
    {"media_tx_power_low_alarm", 140, false, {160, 1}, {160, 1}},
    {"media_tx_power_high_warn", 141, false, {160, 1}, {160, 1}},
    {"media_tx_power_low_warn", 142, false, {160, 1}, {160, 1}},
    {"media_tx_bias_high_alarm", 143, false, {160, 0}, {160, 0}},
    {"media_tx_bias_low_alarm", 144, false, {160, 0}, {160, 0}},
    {"media_tx_bias_high_warn", 145, false, {160, 0}, {160, 0}},
    {"media_tx_bias_low_warn", 146, false, {160, 0}, {160, 0}},
    {"media_rx_power_high_alarm", 149, false, {160, 2}, {160, 2}},
    {"media_rx_power_low_alarm", 150, false, {160, 2}, {160, 2}},
    {"media_rx_power_high_warn", 151, false, {160, 2}, {160, 2}},
    {"media_rx_power_low_warn", 152, false, {160, 2}, {160, 2}},
};

void take_lane_byte(std::string_view name, const ModulePage& page, unsigned at, BankLanes lanes,
                    ModuleSample& sample) {
  for (unsigned i = 0; i < lanes.count; ++i)
    take_other_flag(name, static_cast<std::uint32_t>(lanes.first + i + 1), page.bit(at, i), sample);
}

void take_lane_bytes(std::span<const LaneByte> rows, const ModulePage& advert,
                     const ModulePage& page, BankLanes lanes, ModuleSample& sample) {
  for (const LaneByte& row : rows)
    if (is_offered(advert, row.advert)) take_lane_byte(row.name, page, row.at, lanes, sample);
}

BankLanes lanes_of(std::uint8_t bank, unsigned per_bank, std::size_t all) {
  const std::size_t first = std::size_t{bank} * per_bank;
  return {first, first < all ? std::min<std::size_t>(per_bank, all - first) : 0};
}

/// Bit 0 of a lane's byte of page 12h.
void take_tuning_complete(const ModulePage& page, BankLanes lanes, ModuleSample& sample) {
  for (unsigned i = 0; i < lanes.count; ++i) {
    const bool unused = sample.lanes[lanes.first + i] == ModuleLane{};
    take_other_flag(unused ? "unused_laser_tuning_complete" : "laser_tuning_complete",
                    static_cast<std::uint32_t>(lanes.first + i + 1), page.bit(231 + i, 0), sample);
  }
}

}  // namespace

void decode_cmis_other_flags(const ModuleImage& image, const CmisLanes& lanes,
                             ModuleSample& sample) {
  const ModulePage lower = lower_page(image), advert = upper_page(image, 0x01);
  take_cdb_flags(lower, advert, sample);
  take_makers_flags(lower, 13, sample);
  const bool tests = advert.offers(142, 5);
  if (tests)
    take_other_flag("pattern_reference_clock_lost", {},
                    upper_page(image, kTestFlagsPage).bit(132, 7), sample);
  const unsigned per_bank = lanes.media_per_bank == 0 ? kLanesPerBank : lanes.media_per_bank;
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank) {
    const BankLanes host = lanes_of(bank, kLanesPerBank, sample.host_lanes.size());
    const BankLanes media = lanes_of(bank, lanes.media_per_bank, sample.lanes.size());
    if (cmis_is_tunable(image))
      take_tuning_complete(upper_page(image, kTuningPage, bank), media, sample);
    if (cmis_has_network_paths(image))
      take_lane_byte("host_network_path_changed", upper_page(image, kNetworkPathPage, bank), 128,
                     host, sample);
    const BankLanes untold{std::size_t{bank} * per_bank, per_bank};
    if (sample.lanes.empty())
      take_lane_bytes(kMediaFlags, advert, upper_page(image, 0x11, bank), untold, sample);
    if (sample.kind != "optical" && sample.kind != "aoc")
      take_lane_bytes(kLightFlags, advert, upper_page(image, 0x11, bank), untold, sample);
    for (const LaneByte& row : kTestFlags)
      if (tests && is_offered(upper_page(image, kTestPage, bank), row))
        take_lane_byte(row.name, upper_page(image, kTestFlagsPage, bank), row.at,
                       row.of_host ? host : media, sample);
  }
}

}  // namespace linkhealth
