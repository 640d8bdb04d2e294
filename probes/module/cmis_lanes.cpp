#include <fmt/format.h>

#include <algorithm>

#include "probes/module/cmis.h"
#include "probes/module/codes.h"
#include "probes/module/screen.h"
#include "probes/module/values.h"

namespace linkhealth {

namespace {

constexpr std::uint8_t kCmis4 = 0x40, kCmis5 = 0x50;

/// Latched flags of page 11h: one bit for each lane of the bank, if page 01h offers them.
constexpr StateBit<ModuleLane> kMediaFlags[] = {
    {&ModuleLane::tx_fault, 135, 0, {157, 0}},
    {&ModuleLane::rx_los, 147, 0, {158, 1}},
    {&ModuleLane::rx_lol, 148, 0, {158, 2}},
};
constexpr StateBit<ModuleHostLane> kHostFlags[] = {
    {&ModuleHostLane::tx_los, 136, 0, {157, 1}},
    {&ModuleHostLane::tx_lol, 137, 0, {157, 2}},
    {&ModuleHostLane::tx_eq_fault, 138, 0, {157, 3}},
    {&ModuleHostLane::dp_state_changed, 134, 0, {}},
};

/// A monitor of page 11h with its four flag bytes (high alarm, low alarm, high warning, low
/// warning; one bit per lane) and its limits on page 02h.
struct LaneMonitor {
  MonitorField<ModuleLane> field;
  std::uint8_t value_at, flags_at, limits_at;
  AdvertBit advert;
};
constexpr LaneMonitor kMonitors[] = {{kTxPower, 154, 139, 176, {160, 1}},
                                     {kTxBias, 170, 143, 184, {160, 0}},
                                     {kRxPower, 186, 149, 192, {160, 2}}};

/// The monitors that the module has; the bias with the multiplier of 01h:160 bits 4-3.
std::vector<LaneMonitor> offered_monitors(const ModulePage& advert, ModuleWarnings& warnings) {
  std::vector<LaneMonitor> out;
  const unsigned multiplier = (advert.code(160) >> 3U) & 3U;
  for (LaneMonitor row : kMonitors) {
    if (!row.advert.in(advert)) continue;
    if (row.field.value == &ModuleLane::tx_bias_ma) {
      if (multiplier == 3) {
        warnings.emplace_back("the bias has a reserved scale: it and its limits are left out");
        continue;
      }
      row.field.quantity.scale.times = 1U << multiplier;
    }
    out.push_back(row);
  }
  return out;
}

struct Bank {
  ModulePage advert, control, state;  ///< pages 01h, 10h and 11h
  std::uint8_t revision = 0;
};

/// The nibble of a lane: the first of two is in the low half.
std::optional<unsigned> nibble(const ModulePage& page, unsigned offset, unsigned index) {
  const auto pair = page.byte(offset + index / 2);
  return pair ? std::optional((*pair >> (index % 2 == 0 ? 0U : 4U)) & 0x0fU) : std::nullopt;
}

/// CMIS 5.4 table 8-101, without the common prefix "Config". Earlier revisions have no others.
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

/// With 01h:151.0 one lane's bit switches off all lanes (CMIS 5.4 tables 8-50 and 8-79).
std::optional<bool> output_disable_tx(const Bank& bank, unsigned index) {
  const auto disabled = bank.control.byte(130);
  if (!disabled) return std::nullopt;
  return bank.advert.offers(151, 0) ? *disabled != 0 : (*disabled >> index & 1U) != 0;
}

ModuleLane read_media_lane(const Bank& bank, unsigned index) {
  ModuleLane out;
  read_bits(kMediaFlags, bank.state, bank.advert, index, out);
  out.tx_disabled = output_disable_tx(bank, index);
  if (bank.advert.offers(155, 3)) out.output_squelch_force_tx = bank.control.bit(132, index);
  // Before CMIS 5.0 reserved, reads 0.
  if (bank.revision >= kCmis5) out.tx_output_valid = bank.state.bit(133, index);
  return out;
}

void read_light(const ModulePage& state, const std::vector<LaneMonitor>& monitors, unsigned index,
                std::size_t number, ModuleLane& lane, ModuleWarnings& warnings) {
  for (const LaneMonitor& row : monitors) {
    const auto flag = [&](unsigned byte) { return state.bit(row.flags_at + byte, index); };
    lane.*row.field.flags = {
        .low_alarm = flag(1), .low_warn = flag(3), .high_warn = flag(2), .high_alarm = flag(0)};
    lane.*row.field.value = read_value(state, row.value_at + 2 * index, row.field.quantity,
                                       static_cast<unsigned>(number), warnings);
  }
}

ModuleHostLane read_host_lane(const Bank& bank, unsigned index) {
  ModuleHostLane out;
  if (const auto state = nibble(bank.state, 128, index))
    out.data_path_state = data_path_state_name(static_cast<std::uint8_t>(*state));
  if (const auto status = nibble(bank.state, 202, index))
    out.config_status = config_status_name(*status);
  if (const auto app = bank.state.byte(206 + index)) out.in_use = (*app >> 4U) != 0;
  read_bits(kHostFlags, bank.state, bank.advert, index, out);
  // CMIS 3.0 had the opposite sense in this byte: a 1 requested the data path.
  if (bank.revision >= kCmis4) out.dp_deinit = bank.control.bit(128, index);
  if (bank.advert.offers(156, 1)) out.rx_output_disabled = bank.control.bit(138, index);
  // Before CMIS 5.0 reserved, reads 0.
  if (bank.revision >= kCmis5) out.rx_output_valid = bank.state.bit(132, index);
  return out;
}

/// The host lanes that feed a media lane. If it is in no data path: its share of them, as if all
/// were one data path.
std::span<const ModuleHostLane> feeding_lanes(const std::vector<ModuleHostLane>& host,
                                              const CmisLanes& lanes, std::size_t media_lane) {
  if (lanes.media_per_bank == 0) return {};
  const std::size_t bank = media_lane / lanes.media_per_bank;
  DataPath path{bank * kLanesPerBank, lanes.host_per_bank, bank * lanes.media_per_bank,
                lanes.media_per_bank, false};
  const auto found = std::ranges::find_if(lanes.data_paths, [&](const DataPath& one) {
    return media_lane >= one.media_first && media_lane < one.media_first + one.media_lanes;
  });
  if (found != lanes.data_paths.end()) path = *found;
  const std::size_t index = media_lane - path.media_first;
  const std::size_t first = index * path.host_lanes / path.media_lanes;
  const std::size_t end = std::max(first + 1, (index + 1) * path.host_lanes / path.media_lanes);
  const std::size_t begin = std::min(host.size(), path.host_first + first);
  return std::span(host).subspan(begin, std::min(host.size(), path.host_first + end) - begin);
}

std::optional<bool> any_of(std::span<const ModuleHostLane> lanes,
                           std::optional<bool> ModuleHostLane::*field) {
  std::optional<bool> out;
  for (const ModuleHostLane& lane : lanes)
    if (const auto& value = lane.*field) out = out.value_or(false) || *value;
  return out;
}

/// No application runs on the host lanes that feed it: the unused part of a partly used module.
bool is_idle(std::span<const ModuleHostLane> feeding) {
  return !feeding.empty() && std::ranges::all_of(feeding, [](const ModuleHostLane& lane) {
    return lane.in_use == false || lane.data_path_state == "Deactivated";
  });
}

/// Byte 00h:210 has a bit for each of media lanes 1 to 8 that does not exist (CMIS 5.2, 8.3.7). If
/// all are set, it was not filled in.
bool is_missing(const ModulePage& identity, std::size_t lane) {
  const unsigned mask = identity.code(210);
  return mask != 0xff && lane < kLanesPerBank && (mask >> lane & 1U) != 0;
}

/// Readings of an unused lane are meaningless. If every lane is unused, the module was not set up
/// yet, and nothing is dropped.
void drop_unused_lanes(const ModulePage& identity, const CmisLanes& lanes, ModuleSample& sample) {
  std::vector<std::size_t> unused;
  for (std::size_t lane = 0; lane < sample.lanes.size(); ++lane)
    if ((lane < lanes.media_per_bank && is_missing(identity, lane)) ||
        is_idle(feeding_lanes(sample.host_lanes, lanes, lane)))
      unused.push_back(lane);
  if (unused.size() == sample.lanes.size()) return;
  for (const std::size_t lane : unused) sample.lanes[lane] = ModuleLane{};
}

/// Page 13h, tables 8-111 and 8-131: a byte with one bit per lane. If the module cannot loop lanes
/// one by one (13h:128), a bit counts for all of them.
struct LoopbackRow {
  std::string_view side, at;
  std::uint8_t enables, per_lane_bit;
};
constexpr LoopbackRow kLoopbacks[] = {{"media", "output", 180, 5},
                                      {"media", "input", 181, 5},
                                      {"host", "output", 182, 4},
                                      {"host", "input", 183, 4}};

void read_loopbacks(const ModulePage& page, const CmisLanes& lanes, unsigned bank,
                    std::vector<ModuleLoopback>& out) {
  for (const LoopbackRow& row : kLoopbacks) {
    const unsigned enables = page.code(row.enables);
    if (enables == 0) continue;
    const bool host = row.side == "host";
    const unsigned count = host ? lanes.host_per_bank : lanes.media_per_bank;
    const unsigned first = bank * (host ? kLanesPerBank : count);
    ModuleLoopback loopback{std::string(row.side), std::string(row.at), {}};
    for (unsigned i = 0; i < count; ++i)
      if (page.bit(128, row.per_lane_bit) == false || (enables >> i & 1U) != 0)
        loopback.lanes.push_back(first + i + 1);
    if (!loopback.lanes.empty()) out.push_back(std::move(loopback));
  }
}

}  // namespace

void decode_cmis_lanes(const ModuleImage& image, const CmisLanes& lanes, MediaSide side,
                       ModuleSample& sample) {
  const ModulePage advert = upper_page(image, 0x01);
  const std::uint8_t revision = lower_page(image).code(1);
  const unsigned banks = cmis_bank_count(image);
  const unsigned per_bank = side == MediaSide::kNone ? 0 : lanes.media_per_bank;
  std::vector<LaneMonitor> monitors;
  if (side == MediaSide::kOptical) monitors = offered_monitors(advert, sample.warnings);
  if (upper_page(image, 0x02).exists())
    for (const LaneMonitor& row : monitors)
      sample.thresholds.*row.field.limits =
          read_limits(upper_page(image, 0x02), row.limits_at, row.field.quantity, sample.warnings);
  for (std::uint8_t number = 0; number < banks; ++number) {
    const Bank bank{advert, upper_page(image, 0x10, number), upper_page(image, 0x11, number),
                    revision};
    if (!bank.state.exists()) {
      // Lanes of later banks keep their numbers: an unread bank leaves lanes without values.
      sample.warnings.push_back(
          number == 0
              ? "page 11h was not read: nothing is known of the lanes"
              : fmt::format("page 11h of bank {} was not read: its lanes are not known", number));
      continue;
    }
    read_loopbacks(upper_page(image, 0x13, number), lanes, number, sample.loopbacks);
    sample.host_lanes.resize(std::size_t{number} * kLanesPerBank);
    sample.lanes.resize(std::size_t{number} * per_bank);
    for (unsigned i = 0; i < kLanesPerBank; ++i)
      sample.host_lanes.push_back(read_host_lane(bank, i));
    for (unsigned i = 0; i < per_bank; ++i) {
      ModuleLane& lane = sample.lanes.emplace_back(read_media_lane(bank, i));
      read_light(bank.state, monitors, i, sample.lanes.size(), lane, sample.warnings);
    }
  }
  // A four-lane module in the eight-lane map has no more host lanes than its applications use.
  const std::size_t host_lanes = std::size_t{banks - 1} * kLanesPerBank + lanes.host_per_bank;
  if (lanes.host_per_bank != 0 && host_lanes < sample.host_lanes.size())
    sample.host_lanes.resize(host_lanes);
  for (std::size_t i = 0; i < sample.lanes.size(); ++i) {
    const auto feeding = feeding_lanes(sample.host_lanes, lanes, i);
    sample.lanes[i].tx_los = any_of(feeding, &ModuleHostLane::tx_los);
    sample.lanes[i].tx_lol = any_of(feeding, &ModuleHostLane::tx_lol);
    sample.lanes[i].tx_eq_fault = any_of(feeding, &ModuleHostLane::tx_eq_fault);
  }
  drop_unused_lanes(upper_page(image, 0x00), lanes, sample);
}

}  // namespace linkhealth
