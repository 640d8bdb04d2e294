#include "probes/module/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probes/module/codes.h"
#include "probes/module/module_flags.h"

namespace linkhealth {

namespace {

/// No module runs at 0 V, and hardly any at 0 C: if such a meter reads zero together with all the
/// others, nothing is measured. A dark module still reports its temperature and supply. Before
/// revision 2.8 of SFF-8636 a temperature or a supply of zero is left out: not measured.
bool measures_nothing(const ModuleHead& head, const ModuleSample& sample) {
  constexpr std::uint8_t kRevision2_8 = 0x08;
  const bool zeros_left_out = head.map == ModuleMap::kSff8636 && head.revision < kRevision2_8 &&
                              !sample.temperature_c && !sample.supply_v;
  const bool supply_is_zero = std::ranges::any_of(sample.warnings, [](const std::string& warning) {
    return warning.starts_with("supply of 0 V");
  });
  const bool temperature_is_zero = !sample.supply_v && sample.temperature_c == 0.0;
  if (!zeros_left_out && !supply_is_zero && !temperature_is_zero) return false;
  const auto is_zero = [](const std::optional<double>& value) { return value.value_or(0) <= 0; };
  return std::ranges::all_of(sample.lanes, [&](const ModuleLane& lane) {
    return is_zero(lane.rx_power_mw) && is_zero(lane.tx_power_mw) && is_zero(lane.tx_bias_ma);
  });
}

void drop_blank_monitors(const ModuleHead& head, ModuleSample& sample) {
  if (!measures_nothing(head, sample)) return;
  bool dropped = false;
  const auto drop = [&dropped](std::optional<double>& value) {
    dropped = dropped || value.has_value();
    value.reset();
  };
  for (auto* value : {&sample.temperature_c, &sample.laser_temperature_c})
    if (*value == 0.0) drop(*value);
  for (ModuleLane& lane : sample.lanes)
    for (auto* value : {&lane.rx_power_mw, &lane.tx_power_mw, &lane.tx_bias_ma}) drop(*value);
  if (!dropped) return;
  sample.warnings.emplace_back(
      sample.temperature_c || sample.supply_v
          ? "all readings of light and bias are zero: they are not measured"
          : "all readings are zero: nothing is measured");
}

/// SFF-8636: the bytes of all latched flags; CMIS: those of the lanes (CMIS 5.4 table 8-92). No
/// module exceeds all its high and all its low limits at once: nothing answered the read.
bool flags_are_ones(const ModuleImage& image, const ModuleHead& head) {
  if (head.map == ModuleMap::kSff8636) return lower_page(image).are_ones(3, 14);
  if (head.map != ModuleMap::kCmis) return false;
  bool ones = lower_page(image).are_ones(8, 11);
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    ones = ones || upper_page(image, 0x11, bank).are_ones(135, 152);
  return ones;
}

void drop_without_limit(AlarmFlags& flags, const Limits& limits) {
  if (!limits.low_alarm) flags.low_alarm.reset();
  if (!limits.low_warn) flags.low_warn.reset();
  if (!limits.high_warn) flags.high_warn.reset();
  if (!limits.high_alarm) flags.high_alarm.reset();
}

/// A flag needs the limit that was passed. If the limits were not read, they are unknown, and the
/// flags stay.
void drop_flags_without_limits(const ModuleImage& image, const ModuleHead& head,
                               ModuleSample& sample) {
  const ModulePageKey limits = head.map == ModuleMap::kSff8472   ? kA2Page
                               : head.map == ModuleMap::kSff8636 ? upper_key(0x03)
                                                                 : upper_key(0x02);
  const bool flat = head.map == ModuleMap::kSff8636 && lower_page(image).bit(2, 2).value_or(false);
  if (!flat && !image.whole(limits)) return;
  const ModuleThresholds& of = sample.thresholds;
  drop_without_limit(sample.temperature_flags, of.temperature_c);
  drop_without_limit(sample.supply_flags, of.supply_v);
  for (ModuleLane& lane : sample.lanes) {
    drop_without_limit(lane.rx_power_flags, of.rx_power_mw);
    drop_without_limit(lane.tx_power_flags, of.tx_power_mw);
    drop_without_limit(lane.tx_bias_flags, of.tx_bias_ma);
  }
}

}  // namespace

ModuleSample decode_module(const ModuleImage& image) {
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
    case ModuleMap::kUnsupported:
      sample.warnings.push_back(
          sample.form_factor.empty()
              ? fmt::format("identifier {:02x}h: an unknown form factor", head.identifier)
              : sample.form_factor + ": its memory map is not known");
      break;
  }
  drop_blank_monitors(head, sample);
  drop_flags_without_limits(image, head, sample);
  if (flags_are_ones(memory, head)) {
    forget_flags(sample);
    sample.warnings.emplace_back("the flags are all ones, which no module has: left out");
  }
  return sample;
}

}  // namespace linkhealth
