#include "probes/module/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "probes/module/codes.h"
#include "probes/module/maps.h"
#include "probes/module/screen.h"

namespace linkhealth {

namespace {

bool is_zero(const std::optional<double>& value) { return value.value_or(0) <= 0; }

/// Before revision 2.8 of SFF-8636 a temperature or a supply of zero is not measured and left out:
/// without both there is nothing that tells a module in the dark from one without meters.
bool leaves_zeros_out(const ModuleHead& head, const ModuleSample& sample) {
  constexpr std::uint8_t kRevision2_8 = 0x08;
  return head.map == ModuleMap::kSff8636 && head.revision < kRevision2_8 && !sample.temperature_c &&
         !sample.supply_v;
}

/// No module runs at 0 V, and hardly one at 0 C: where such a meter says so beside zeros of all
/// others, nobody measures. A module that is dark says its temperature and its supply.
bool measures_nothing(const ModuleHead& head, const ModuleSample& sample) {
  const bool dead_supply = std::ranges::any_of(sample.warnings, [](const std::string& warning) {
    return warning.starts_with("supply of 0 V");
  });
  const bool dead = dead_supply || leaves_zeros_out(head, sample);
  if (!dead && (sample.supply_v || sample.temperature_c != 0.0)) return false;
  return std::ranges::all_of(sample.lanes, [](const ModuleLane& lane) {
    return is_zero(lane.rx_power_mw) && is_zero(lane.tx_power_mw) && is_zero(lane.tx_bias_ma);
  });
}

void drop_blank_monitors(const ModuleHead& head, ModuleSample& sample) {
  bool dropped = false;
  const auto drop = [&dropped](std::optional<double>& value) {
    dropped = dropped || value.has_value();
    value.reset();
  };
  if (!measures_nothing(head, sample)) return;
  for (auto* value :
       {&sample.temperature_c, &sample.laser_temperature_c, &sample.second_laser_temperature_c})
    if (*value == 0.0) drop(*value);
  for (ModuleLane& lane : sample.lanes)
    for (auto* value : {&lane.rx_power_mw, &lane.tx_power_mw, &lane.tx_bias_ma}) drop(*value);
  if (!dropped) return;
  sample.warnings.emplace_back(
      sample.temperature_c || sample.supply_v
          ? "its meters of light and bias all read zero: they measure nothing"
          : "its meters all read zero: nothing is measured");
}

/// A form factor whose map for monitors we do not know. Two of them say who they are where their
/// successors do (INF-8438 as SFF-8436, a DWDM-SFP as an SFP): it is believed where both checksums
/// prove it.
struct IdentityRow {
  std::uint8_t identifier;
  bool upper;  ///< page 00h, else the lower page
  IdentityOffsets offsets;
  std::array<unsigned, 3> base_sum,
      extended_sum;  ///< first and last byte, and where the sum stands
};
constexpr IdentityRow kIdentities[] = {
    {0x0b, false, kSff8472Identity, {0, 62, 63}, {64, 94, 95}},
    {kQsfpInf8438, true, kSff8636Identity, {128, 190, 191}, {192, 222, 223}},
};

void decode_identity_only(const ModuleImage& image, std::uint8_t identifier, ModuleSample& sample) {
  const std::string name(form_factor_name(identifier));
  for (const IdentityRow& row : kIdentities) {
    const ModulePage page = row.upper ? upper_page(image, 0) : lower_page(image);
    const auto holds = [&page](const std::array<unsigned, 3>& sum) {
      return page.checksum_ok(sum[0], sum[1], sum[2]).value_or(false);
    };
    if (row.identifier != identifier || !holds(row.base_sum) || !holds(row.extended_sum)) continue;
    sample.checksums_ok = true;
    read_identity(page, row.offsets, sample);
    sample.warnings.push_back(name + ": only who it is can be read, not what it measures");
    return;
  }
  sample.warnings.push_back(
      name.empty() ? fmt::format("identifier {:02x}h: a form factor that is not known", identifier)
                   : name + ": its memory map is not known");
}

}  // namespace

ModuleSample decode_module(const ModuleImage& image) {
  ModuleSample sample = decode_with_unset_flags(image);
  list_set_flags(sample);
  return sample;
}

void list_set_flags(ModuleSample& sample) {
  std::erase_if(sample.vdm.flags, [](const VdmFlags& entry) { return !entry.flags.any(); });
  std::erase_if(sample.other_flags, [](const OtherFlag& flag) { return !flag.set; });
}

ModuleSample decode_with_unset_flags(const ModuleImage& image) {
  ModuleSample sample;
  const ModuleImage memory = screened(image, &sample.warnings);
  const ModuleHead head = module_head(memory);
  sample.form_factor = form_factor_name(head.identifier);
  if (!head.lower_page_usable)
    sample.warnings.emplace_back("the lower page names no form factor: its readings are left out");
  switch (head.map) {
    case ModuleMap::kSff8472:
      decode_sff8472(memory, sample);
      break;
    case ModuleMap::kSff8636:
      decode_sff8636(memory, head, sample);
      break;
    case ModuleMap::kCmis:
      decode_cmis(memory, head, sample);
      break;
    case ModuleMap::kNone:
      sample.warnings.emplace_back("no identifier: the module is not programmed or did not answer");
      break;
    case ModuleMap::kVendor:
    case ModuleMap::kIdentityOnly:
      decode_identity_only(memory, head.identifier, sample);
      break;
  }
  drop_blank_monitors(head, sample);
  return sample;
}

}  // namespace linkhealth
