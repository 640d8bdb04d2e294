#include "exporters/module_flags_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/module_lanes_text.h"
#include "exporters/module_values_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

/// The worst of each side: a value that swung has passed both since somebody last read its flags.
std::vector<std::string> flag_words(const AlarmFlags& flags) {
  std::vector<std::string> out;
  const auto side = [&](std::string_view name, const std::optional<bool>& alarm,
                        const std::optional<bool>& warn) {
    const std::string_view level = alarm.value_or(false)  ? "alarm"
                                   : warn.value_or(false) ? "warning"
                                                          : "";
    if (!level.empty()) out.push_back(fmt::format("{} {}", name, level));
  };
  side("low", flags.low_alarm, flags.low_warn);
  side("high", flags.high_alarm, flags.high_warn);
  return out;
}

/// "supply low alarm and high warning"; "" without a flag.
std::string flag_line(std::string_view name, const AlarmFlags& flags) {
  const std::string words = join(flag_words(flags), " and ");
  return words.empty() ? words : fmt::format("{} {}", name, words);
}

std::string tuning_flags(const LaserTuning& laser) {
  return join({named(laser.wavelength_unlocked, "laser off its wavelength"),
               named(laser.channel_invalid, "asked for a channel that it does not have"),
               named(laser.tuning_not_accepted, "tuning refused"),
               named(laser.fine_tuning_out_of_range, "fine tuning out of range"),
               named(laser.target_power_out_of_range, "asked for a power that it can't give"),
               named(laser.cooler_fault, "laser's cooler failed")},
              ", ");
}

/// In the order of the signal's way, what explains the others first.
std::string coherent_flags(const CoherentFlags& flags) {
  return join({named(flags.tx_reference_clock_lol, "Tx reference clock lost"),
               named(flags.tx_cmu_lol, "Tx clock multiplier unlocked"),
               named(flags.tx_deskew_lol, "Tx deskew unlocked"),
               named(flags.tx_loss_of_alignment, "Tx alignment lost"),
               named(flags.tx_out_of_alignment, "Tx out of alignment"),
               named(flags.tx_fifo_error, "Tx FIFO error"),
               named(flags.rx_demodulator_lol, "demodulator unlocked"),
               named(flags.rx_dispersion_lol, "dispersion compensation unlocked"),
               named(flags.rx_deskew_lol, "Rx deskew unlocked"),
               named(flags.rx_loss_of_alignment, "Rx alignment lost"),
               named(flags.rx_out_of_alignment, "Rx out of alignment"),
               named(flags.rx_loss_of_frame, "loss of frame"),
               named(flags.rx_loss_of_multi_frame, "loss of multi-frame"),
               named(flags.rx_fifo_error, "Rx FIFO error")},
              ", ");
}

std::string lane_flags(const ModuleLane& lane, bool losses) {
  return join(
      {losses ? join(loss_words(lane), ", ") : "", flag_line("Rx power", lane.rx_power_flags),
       flag_line("Tx power", lane.tx_power_flags), flag_line("bias", lane.tx_bias_flags)},
      ", ");
}

std::string host_lane_flags(const ModuleHostLane& lane) {
  std::vector<std::string> words;
  if (lane.tx_los.value_or(false)) words.emplace_back("no signal from the host");
  if (lane.tx_lol.value_or(false)) words.emplace_back("no lock on the host's signal");
  if (lane.tx_eq_fault.value_or(false)) words.emplace_back("input equalizer did not adapt");
  return join(words, ", ");
}

/// "media_pre_fec_ber_avg" as people say it; the unit belongs to the value.
std::string observable_words(std::string out) {
  const auto say = [&](std::string_view from, std::string_view to) {
    if (const auto at = out.find(from); at != std::string::npos) out.replace(at, from.size(), to);
  };
  say("_pre_fec_ber", " pre-FEC BER");
  say("_fec_tail_symbols", " FEC tail");
  say("_esnr_db", " SNR");
  say("_ltp_db", " LTP");
  if (out.starts_with("type_")) out.insert(0, "monitor of ");
  for (const char* unit : {"_per_nm", "_per_s", "_percent", "_krad", "_mhz", "_dbm", "_db", "_ps2"})
    say(unit, "");
  if (out.ends_with("_v")) out.resize(out.size() - 2);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

/// One line for each thing that is said, with the lanes that say it.
class LinesWithLanes {
 public:
  void add(const std::string& what, const std::optional<std::uint32_t>& lane) {
    auto line = std::ranges::find(lines_, what, &Line::what);
    if (line == lines_.end()) line = lines_.insert(lines_.end(), {what, ""});
    if (lane) line->lanes += fmt::format(" {}", *lane);
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [what, lanes] : lines_)
      if (lanes.empty())
        out += fmt::format("    {}\n", what);
      else
        out += fmt::format("    {}, lane{}{}\n", what,
                           lanes.find(' ', 1) == std::string::npos ? "" : "s", lanes);
    return out;
  }

 private:
  struct Line {
    std::string what, lanes;
  };
  std::vector<Line> lines_;
};

std::string vdm_flags(const ModuleVdm& vdm, const TextStyle& style) {
  LinesWithLanes lines;
  for (const VdmFlags& entry : vdm.flags)
    for (const std::string& word : flag_words(entry.flags))
      lines.add(observable_words(clean_text(entry.name, style.ascii)) + " " + word, entry.lane);
  return lines.text();
}

/// "custom_flag_13_0", the maker's bit 0 of byte 13, as "maker's own flag, byte 13 bit 0"; others
/// with blanks.
std::string other_flag_words(std::string name) {
  constexpr std::string_view kMakers = "custom_flag_";
  const bool makers = name.starts_with(kMakers);
  if (makers) name.erase(0, kMakers.size());
  const auto cut = name.find('_');
  if (makers && cut != std::string::npos)
    return fmt::format("the maker's own flag, byte {} bit {}", name.substr(0, cut),
                       name.substr(cut + 1));
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string other_flags(const ModuleSample& m, const TextStyle& style) {
  LinesWithLanes lines;
  for (const OtherFlag& flag : m.other_flags)
    if (flag.set) lines.add(other_flag_words(clean_text(flag.name, style.ascii)), flag.lane);
  return lines.text();
}

struct ModuleFlags {
  std::string_view name;
  AlarmFlags ModuleSample::*flags;
};
constexpr ModuleFlags kModuleFlags[] = {
    {"temperature", &ModuleSample::temperature_flags},
    {"supply", &ModuleSample::supply_flags},
    {"laser temperature", &ModuleSample::laser_temperature_flags},
    {"laser cooler", &ModuleSample::tec_flags},
    {"second supply", &ModuleSample::second_supply_flags},
    {"second laser temperature", &ModuleSample::second_laser_temperature_flags},
    {"second laser cooler", &ModuleSample::second_tec_flags},
    {"the maker's auxiliary monitor", &ModuleSample::auxiliary_flags},
    {"the maker's custom monitor", &ModuleSample::custom_flags},
};

std::string media_lanes(const ModuleSample& m) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < m.lanes.size(); ++i)
    words.push_back(join({lane_flags(m.lanes[i], !losses_are_live(m)),
                          i < m.laser_tuning.size() ? tuning_flags(m.laser_tuning[i]) : "",
                          i == 0 ? coherent_flags(m.coherent_flags) : ""},
                         ", "));
  return lane_lines("", words);
}

std::string host_lanes(const ModuleSample& m) {
  std::vector<std::string> words;
  for (const ModuleHostLane& lane : m.host_lanes)
    words.push_back(lane.in_use.value_or(true) ? host_lane_flags(lane) : "");
  return lane_lines("host ", words);
}

}  // namespace

std::string flags_now(const ModuleSample& m, const TextStyle& style) {
  std::string out;
  for (const ModuleFlags& entry : kModuleFlags)
    if (const std::string line = flag_line(entry.name, m.*entry.flags); !line.empty())
      out += "    " + line + "\n";
  out += media_lanes(m) + host_lanes(m) + vdm_flags(m.vdm, style) + other_flags(m, style);
  if (out.empty()) return out;
  return "\n" + paint_bold("  Flags", style) +
         " (latched: since somebody last read them, perhaps not us)\n" + out;
}

std::string flag_history(const ModuleSample& m, const TextStyle& style) {
  if (m.flags.empty()) return {};
  std::string out = "\n" + paint_bold("  Flags that changed", style) +
                    " (as our reads saw them; another reader may have taken some)\n";
  for (const ModuleFlag& flag : m.flags) {
    const std::string name =
        clean_text(flag.name, style.ascii) + (flag.lane ? fmt::format(" {}", *flag.lane) : "");
    out += fmt::format("    {} {:<5}  {} change{}", pad_right(name, 28), flag.set ? "set" : "clear",
                       flag.change_count, flag.change_count == 1 ? "" : "s");
    if (flag.set_at) out += ", last set " + format_rfc3339(*flag.set_at);
    if (flag.cleared_at) out += ", cleared " + format_rfc3339(*flag.cleared_at);
    out += "\n";
  }
  return out;
}

}  // namespace linkhealth
