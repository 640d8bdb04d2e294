#include "exporters/explain_physics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

// Optics send and receive between these; what is outside is drawn at the edge (docs/physics.md 3e:
// LOS floors below -15 dBm).
constexpr double kLowDbm = -16;
constexpr double kHighDbm = 6;
constexpr double kTickDb = 4;
constexpr std::size_t kLabelColumns = 18;
constexpr std::size_t kScaleColumns = 45;  // two columns a dB and one for the right edge

using Power = std::optional<double>;

/// One direction: who sends, who receives, on which lane.
struct Budget {
  std::string heading;
  std::string sender, receiver;
  Power tx_dbm, rx_dbm, limit_dbm;
  bool rx_dark = false, tx_dark = false;
  std::optional<double> lost_db;  ///< against the past
  std::optional<double> tx_lost_db;
};

std::size_t column(double dbm) {
  const double share = std::clamp((dbm - kLowDbm) / (kHighDbm - kLowDbm), 0.0, 1.0);
  return static_cast<std::size_t>(std::lround(share * (kScaleColumns - 1)));
}

/// The lane of `lanes` with the least of `power`; its index.
template <typename Member>
std::optional<std::size_t> weakest(const std::vector<ModuleLane>& lanes, Member power) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i].*power && (!found || *(lanes[i].*power) < *(lanes[*found].*power))) found = i;
  return found;
}

template <typename Member>
void take(const ModuleSample* module, std::size_t lane, Member power, Power& dbm, bool& dark) {
  if (module == nullptr || lane >= module->lanes.size() || !(module->lanes[lane].*power)) return;
  dbm = dbm_from_mw(*(module->lanes[lane].*power));
  dark = !dbm;
}

const ModuleSample* far_module(const PortReport& port) {
  const auto& peer = port.latest.peer;
  return peer && peer->module ? &*peer->module : nullptr;
}

std::string lane_words(std::size_t lane, std::size_t count) {
  return count > 1 ? fmt::format(", lane {}", lane + 1) : "";
}

Budget inward(const PortReport& port, const ModuleSample& own) {
  Budget budget;
  budget.sender = "far Tx";
  budget.receiver = "Rx";
  const std::size_t lane = weakest(own.lanes, &ModuleLane::rx_power_mw).value_or(0);
  budget.heading = "Towards this node" + lane_words(lane, own.lanes.size());
  take(far_module(port), lane, &ModuleLane::tx_power_mw, budget.tx_dbm, budget.tx_dark);
  take(&own, lane, &ModuleLane::rx_power_mw, budget.rx_dbm, budget.rx_dark);
  if (own.thresholds.rx_power_mw.low_alarm)
    budget.limit_dbm = dbm_from_mw(*own.thresholds.rx_power_mw.low_alarm);
  budget.lost_db = port.figures.rx_power_lost_db;
  budget.tx_lost_db = port.figures.far_tx_power_lost_db;
  return budget;
}

Budget outward(const PortReport& port, const ModuleSample& own) {
  Budget budget;
  budget.sender = "Tx";
  budget.receiver = "far Rx";
  const ModuleSample* far = far_module(port);
  std::optional<std::size_t> lane;
  if (far != nullptr) lane = weakest(far->lanes, &ModuleLane::rx_power_mw);
  if (!lane) lane = weakest(own.lanes, &ModuleLane::tx_power_mw);
  budget.heading = fmt::format("Towards {}{}", port.peer.empty() ? "the far end" : port.peer,
                               lane_words(lane.value_or(0), own.lanes.size()));
  take(&own, lane.value_or(0), &ModuleLane::tx_power_mw, budget.tx_dbm, budget.tx_dark);
  take(far, lane.value_or(0), &ModuleLane::rx_power_mw, budget.rx_dbm, budget.rx_dark);
  if (far != nullptr && far->thresholds.rx_power_mw.low_alarm)
    budget.limit_dbm = dbm_from_mw(*far->thresholds.rx_power_mw.low_alarm);
  budget.lost_db = port.figures.far_rx_power_lost_db;
  budget.tx_lost_db = port.figures.tx_power_lost_db;
  return budget;
}

class Drawing {
 public:
  Drawing(const TextStyle& style, std::vector<std::string>& lines) : style_(style), lines_(lines) {}

  void line(std::string_view label, std::string_view picture, std::string_view words) {
    std::string text = "    " + paint_faint(pad_right(label, kLabelColumns - 4), style_);
    text += pad_right(picture, kScaleColumns + 2) + std::string(words);
    text.erase(text.find_last_not_of(' ') + 1);
    lines_.push_back(std::move(text));
  }
  /// "  -16     -12 …"
  void scale() {
    std::string marks(kScaleColumns + 2, ' ');
    for (double dbm = kLowDbm; dbm <= kHighDbm; dbm += kTickDb) {
      const std::string word = dbm == 0 ? "0" : fmt::format("{:+g}", dbm);
      const std::size_t at =
          std::min(column(dbm) > 0 ? column(dbm) - 1 : 0, marks.size() - word.size());
      marks.replace(at, word.size(), word);
    }
    line("dBm", marks, "");
  }
  void point(std::string_view label, const Power& dbm, bool dark, std::string_view words) {
    if (!dbm) return line(label, "", dark ? "no light" : words);
    line(label, std::string(column(*dbm), ' ') + (style_.ascii ? "o" : "●"),
         fmt::format("{} dBm{}", number_words(*dbm, "dBm"), words));
  }
  /// From where the light starts to where it arrives.
  void loss(double tx_dbm, double rx_dbm, const std::string& words) {
    const std::size_t from = std::min(column(rx_dbm), column(tx_dbm));
    const std::size_t to = std::max(column(rx_dbm), column(tx_dbm));
    std::string picture(from, ' ');
    picture += style_.ascii ? "<" : "◀";
    for (std::size_t i = from + 1; i <= to; ++i) picture += style_.ascii ? "-" : "━";
    line("loss", picture, words);
  }

 private:
  const TextStyle& style_;
  std::vector<std::string>& lines_;
};

/// ", 8.1 dB less than usual"
std::string against_past(std::optional<double> lost_db) {
  if (!lost_db) return "";
  if (std::abs(*lost_db) < 0.5) return ", as usual";
  return fmt::format(", {:.1f} dB {} than usual", std::abs(*lost_db),
                     *lost_db > 0 ? "less" : "more");
}

void draw(const Budget& budget, const TextStyle& style, std::vector<std::string>& lines) {
  lines.push_back("  " + paint_bold(clean_text(budget.heading, style.ascii), style));
  Drawing drawing(style, lines);
  drawing.scale();
  drawing.point(budget.sender, budget.tx_dbm, budget.tx_dark,
                budget.tx_dbm ? against_past(budget.tx_lost_db) : "not readable from here");
  if (budget.tx_dbm && budget.rx_dbm)
    drawing.loss(*budget.tx_dbm, *budget.rx_dbm,
                 fmt::format("{:.1f} dB lost", *budget.tx_dbm - *budget.rx_dbm));
  drawing.point(budget.receiver, budget.rx_dbm, budget.rx_dark,
                budget.rx_dbm ? against_past(budget.lost_db) : "not readable from here");
  if (!budget.limit_dbm) return;
  const std::string picture =
      std::string(column(*budget.limit_dbm), ' ') + (style.ascii ? "|" : "┃");
  std::string words = fmt::format("{} dBm low alarm", number_words(*budget.limit_dbm, "dBm"));
  if (budget.rx_dbm) {
    const double margin = *budget.rx_dbm - *budget.limit_dbm;
    words += margin >= 0 ? fmt::format(", margin {:.1f} dB", margin)
                         : fmt::format(", {:.1f} dB too little", -margin);
  }
  drawing.line("limit", picture, words);
}

/// "pre-FEC BER 3.4e-05 over 12 min; RS544 corrects up to 2.4e-04: 7 times more"
std::string error_words(const PortReport& port) {
  const PortFigures& figures = port.figures;
  if (!figures.pre_fec_ber) return "not readable from here";
  std::string text = "pre-FEC BER " + ber_words(*figures.pre_fec_ber);
  if (figures.ber_window_s) text += " over " + duration_words(from_seconds(*figures.ber_window_s));
  if (!figures.pre_fec_ber_limit) return text;
  const std::string fec =
      port.latest.link && !port.latest.link->fec.empty() ? port.latest.link->fec : "FEC";
  text += fmt::format("; {} takes up to {:.1e}", fec, *figures.pre_fec_ber_limit);
  if (*figures.pre_fec_ber <= 0) return text;
  const double ratio = *figures.pre_fec_ber_limit / *figures.pre_fec_ber;
  return text + (ratio >= 1 ? fmt::format(": room for {:.2g} times more", ratio)
                            : fmt::format(": {:.2g} times too many", 1 / ratio));
}

}  // namespace

std::vector<std::string> physics_lines(const PortReport& port, const TextStyle& style) {
  std::vector<std::string> lines;
  const auto& module = port.latest.module;
  const bool light =
      module && module->present &&
      std::any_of(module->lanes.begin(), module->lanes.end(), [](const ModuleLane& lane) {
        return lane.rx_power_mw.has_value() || lane.tx_power_mw.has_value();
      });
  if (light) {
    draw(inward(port, *module), style, lines);
    lines.emplace_back();
    draw(outward(port, *module), style, lines);
  } else {
    const std::string_view why = !module            ? "the module can't be read"
                                 : !module->present ? "there is no module"
                                 : module->kind == "dac"
                                     ? "copper has no light; only its errors tell"
                                     : "the module gives no powers";
    lines.push_back("  " + paint_bold("Light", style) + fmt::format("  not to be drawn: {}", why));
  }
  lines.emplace_back();
  lines.push_back("  " + paint_faint(pad_right("Errors in", 11), style) +
                  clean_text(error_words(port), style.ascii));
  return lines;
}

}  // namespace linkhealth
