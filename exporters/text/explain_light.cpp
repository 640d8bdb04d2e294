#include "exporters/text/explain_light.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

// If a module reports no limits, bars span the usual range of receivers.
constexpr double kUsualLowDbm = -12;
constexpr double kUsualHighDbm = 4;
constexpr std::size_t kBarColumns = 8;

using Power = std::optional<double> ModuleLane::*;

/// A power in dBm; -inf for no light, nullopt if it is not read.
std::optional<double> lane_dbm(const ModuleSample* module, std::size_t lane, Power power) {
  if (module == nullptr || lane >= module->lanes.size() || !(module->lanes[lane].*power))
    return std::nullopt;
  constexpr double kNoLight = -std::numeric_limits<double>::infinity();
  const double dbm = dbm_from_mw(*(module->lanes[lane].*power)).value_or(kNoLight);
  return dbm > kReadsDarkDbm ? dbm : kNoLight;
}

/// The lane with the least power, from 0.
std::optional<std::size_t> weakest_lane(const ModuleSample* module, Power power) {
  std::optional<std::size_t> weakest;
  if (module == nullptr) return weakest;
  for (std::size_t i = 0; i < module->lanes.size(); ++i)
    if (module->lanes[i].*power &&
        (!weakest || module->lanes[i].*power < module->lanes[*weakest].*power))
      weakest = i;
  return weakest;
}

std::optional<double> limit_dbm(const std::optional<double>& limit_mw) {
  return limit_mw ? dbm_from_mw(*limit_mw) : std::nullopt;
}

const ModuleSample* own_module(const PortReport& port) {
  const auto& module = port.latest.module;
  return module && module->present ? &*module : nullptr;
}

const ModuleSample* far_module(const PortReport& port) {
  const auto& peer = port.latest.peer;
  return peer && peer->module ? &*peer->module : nullptr;
}

std::string format_dbm(const std::optional<double>& power_dbm, std::string_view unknown) {
  return power_dbm ? format_quantity_value(*power_dbm, "dBm") : std::string(unknown);
}

/// A smaller loss is not shown: reading noise and mating again.
constexpr double kLeastShownLossDb = 0.5;

/// The lane that lost most against its baseline; without a loss, the one with the least power.
std::optional<std::size_t> shown_lane(const PortReport& port, const ModuleSample* module) {
  auto weakest = weakest_lane(module, &ModuleLane::rx_power_mw);
  const PortFigures& figures = port.figures;
  // The smoothed powers decide, as in the table of status.
  if (weakest && figures.worst_rx_lane && *figures.worst_rx_lane <= module->lanes.size())
    weakest = *figures.worst_rx_lane - 1;
  const bool lost = figures.rx_power_lost_db.value_or(0) >= kLeastShownLossDb;
  if (!weakest || !lost || !figures.rx_power_lost_lane) return weakest;
  const std::size_t lane = *figures.rx_power_lost_lane - 1;
  return lane < module->lanes.size() ? lane : weakest;
}

/// The power that a lane receives: of the worst one as status and the verdict show it, which is
/// smoothed.
std::optional<double> rx_dbm(const PortReport& port, const ModuleSample& module, std::size_t lane) {
  const PortFigures& figures = port.figures;
  const auto read = lane_dbm(&module, lane, &ModuleLane::rx_power_mw);
  return read && std::isfinite(*read) && figures.worst_rx_lane == lane + 1 &&
                 figures.worst_rx_power_dbm.value_or(kReadsDarkDbm) > kReadsDarkDbm
             ? figures.worst_rx_power_dbm
             : read;
}

/// Whether the module was read before the link went down, so that its powers do not show why.
bool is_older_than_loss(const PortReport& port) {
  const auto& link = port.latest.link;
  return link && link->carrier == false && !port.figures.worst_rx_power_dbm;
}

/// The same for the far module.
bool is_far_older_than_loss(const PortReport& port, SteadyTime t) {
  const auto& link = port.latest.link;
  const auto& peer = port.latest.peer;
  if (!link || link->carrier != false || !port.figures.carrier_since || !peer) return false;
  return !peer->module_age_s || *peer->module_age_s > in_seconds(t - *port.figures.carrier_since);
}

/// "far Tx +0.4 ━━━━ 8.1 dB below baseline ━━━━▶ Rx -9.1 (lane 2)   limit -9.9"
std::string budget_line(const PortReport& port, const ModuleSample& module, std::size_t lane,
                        SteadyTime t, const TextStyle& style) {
  const auto rx = rx_dbm(port, module, lane);
  const ModuleSample* far = is_far_older_than_loss(port, t) ? nullptr : far_module(port);
  const auto tx = lane_dbm(far, lane, &ModuleLane::tx_power_mw);
  const bool ascii = style.ascii;
  const std::string_view dash = ascii ? "----" : "━━━━";
  std::string text = fmt::format("far Tx {} {}", format_dbm(tx, "unknown"), dash);
  const double lost_db = port.figures.rx_power_lost_db.value_or(0);
  if (lost_db >= kLeastShownLossDb && std::isfinite(*rx))
    text += fmt::format(" {:.1f} dB below baseline ", lost_db);
  else if (tx && std::isfinite(*tx) && std::isfinite(*rx))
    text += fmt::format(" path loss {:.1f} dB ", *tx - *rx);
  text += fmt::format("{}{} Rx {}", dash, ascii ? ">" : "▶", format_dbm(rx, ""));
  if (module.lanes.size() > 1) text += fmt::format(" (lane {})", lane + 1);
  const auto alarm = limit_dbm(module.thresholds.rx_power_mw.low_alarm);
  if (!alarm) return text;
  const std::string limit = "limit " + format_dbm(alarm, "");
  const std::size_t margin = TextPage::kLabelColumns + 2;
  const bool fits = margin + display_width(text) + 3 + limit.size() <= usable_width(style);
  return text + (fits ? "   " : "\n" + std::string(margin, ' ')) + limit;
}

/// "Tx -6.5 (9.2 dB below baseline) ━━━━▶ far Rx -7.6 (9.3 dB below baseline) (lane 3)"; "" if this
/// node's lasers lost nothing.
std::string outward_line(const PortReport& port, const ModuleSample& module, SteadyTime t,
                         const TextStyle& style) {
  // Without light the size of the loss means nothing.
  const auto lost = [](const std::optional<double>& lost_db, const std::optional<double>& dbm) {
    return lost_db.value_or(0) >= 1 && dbm.value_or(0) > kReadsDarkDbm
               ? fmt::format(" ({:.1f} dB below baseline)", *lost_db)
               : std::string();
  };
  const PortFigures& figures = port.figures;
  const auto lane = weakest_lane(&module, &ModuleLane::tx_power_mw);
  if (figures.tx_power_lost_db.value_or(0) < 1 || !lane) return "";
  const ModuleSample* far = is_far_older_than_loss(port, t) ? nullptr : far_module(port);
  const auto sent = lane_dbm(&module, *lane, &ModuleLane::tx_power_mw);
  const auto received = lane_dbm(far, *lane, &ModuleLane::rx_power_mw);
  std::string text = "Tx " + format_dbm(sent, "") + lost(figures.tx_power_lost_db, sent);
  text += style.ascii ? " ----> far Rx " : " ━━━━▶ far Rx ";
  text += format_dbm(received, "unknown");
  if (far != nullptr) text += lost(figures.far_rx_power_lost_db, received);
  return module.lanes.size() > 1 ? text + fmt::format(" (lane {})", *lane + 1) : text;
}

/// "2 [#       ] -9.1 !" between the module's alarm limits.
std::string lane_cell(const PortReport& port, const ModuleSample& module, std::size_t lane,
                      bool ascii) {
  const auto power = rx_dbm(port, module, lane);
  if (!power) return fmt::format("{} ?", lane + 1);
  const Limits& limits = module.thresholds.rx_power_mw;
  const double low = limit_dbm(limits.low_alarm).value_or(kUsualLowDbm);
  const double high = std::max(limit_dbm(limits.high_alarm).value_or(kUsualHighDbm), low + 1);
  const double power_mw = *module.lanes[lane].rx_power_mw;
  const bool weak = std::isinf(*power) || power_mw < limits.low_warn.value_or(0) ||
                    power_mw < limits.low_alarm.value_or(0);
  return fmt::format(
      "{} [{}] {}{}", lane + 1, bar((*power - low) / (high - low), kBarColumns, ascii),
      std::isinf(*power) ? "dark" : format_dbm(power, ""), weak ? (ascii ? " !" : " ▲") : "");
}

/// One direction of the link.
struct Direction {
  std::string title, sender, receiver;
  std::optional<double> tx_dbm, rx_dbm, limit_dbm;
  std::optional<double> tx_lost_db, rx_lost_db;  ///< relative to the baseline
};

Direction direction(const PortReport& port, bool inward) {
  const ModuleSample* own = own_module(port);
  const ModuleSample* far = far_module(port);
  const ModuleSample* from = inward ? far : own;
  const ModuleSample* to = inward ? own : far;
  auto lane = weakest_lane(to, &ModuleLane::rx_power_mw);
  if (!lane) lane = weakest_lane(from, &ModuleLane::tx_power_mw);
  Direction out;
  out.title = "Towards " + (inward ? "this node" : port.peer.empty() ? "the far end" : port.peer);
  if (own->lanes.size() > 1) out.title += fmt::format(", lane {}", lane.value_or(0) + 1);
  out.sender = inward ? "far Tx" : "Tx";
  out.receiver = inward ? "Rx" : "far Rx";
  out.tx_dbm = lane_dbm(from, lane.value_or(0), &ModuleLane::tx_power_mw);
  out.rx_dbm = lane_dbm(to, lane.value_or(0), &ModuleLane::rx_power_mw);
  if (to != nullptr) out.limit_dbm = limit_dbm(to->thresholds.rx_power_mw.low_alarm);
  const PortFigures& figures = port.figures;
  out.tx_lost_db = inward ? figures.far_tx_power_lost_db : figures.tx_power_lost_db;
  out.rx_lost_db = inward ? figures.rx_power_lost_db : figures.far_rx_power_lost_db;
  return out;
}

/// "8.1 dB below baseline"
std::string format_baseline(const std::optional<double>& lost_db) {
  if (!lost_db) return "";
  if (std::abs(*lost_db) < kLeastShownLossDb) return "at baseline";
  return fmt::format("{:.1f} dB {} baseline", std::abs(*lost_db), *lost_db > 0 ? "below" : "above");
}

std::string direction_text(const Direction& link, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string_view name, const std::optional<double>& value,
                       std::string_view unit, const std::string& note) {
    rows.push_back({std::string(name), value ? format_quantity(*value, unit) : "unreadable",
                    value ? note : ""});
  };
  add(link.sender, link.tx_dbm, "dBm", format_baseline(link.tx_lost_db));
  const bool both =
      link.tx_dbm && link.rx_dbm && std::isfinite(*link.tx_dbm) && std::isfinite(*link.rx_dbm);
  if (both) add("path loss", *link.tx_dbm - *link.rx_dbm, "dB", "");
  add(link.receiver, link.rx_dbm, "dBm", format_baseline(link.rx_lost_db));
  if (link.limit_dbm) {
    std::string note = "low alarm";
    if (link.rx_dbm && std::isfinite(*link.rx_dbm))
      note += fmt::format(", margin {:.1f} dB", *link.rx_dbm - *link.limit_dbm);
    add("limit", link.limit_dbm, "dBm", note);
  }
  std::string text = "  " + paint_bold(clean_text(link.title, style.ascii), style) + "\n";
  for (const std::string& line : align_columns(rows, 4, usable_width(style), style.ascii))
    text += line + "\n";
  return text;
}

/// "3.4e-05 over 12 min; RS544 corrects up to 2.4e-04, 7.1 times more"
std::string format_error(const PortReport& port) {
  const PortFigures& figures = port.figures;
  if (!figures.pre_fec_ber) return "unreadable";
  std::string text = format_ber(*figures.pre_fec_ber);
  if (figures.ber_window_s) text += " over " + format_duration(from_seconds(*figures.ber_window_s));
  if (!figures.pre_fec_ber_limit) return text;
  const auto& link = port.latest.link;
  text += fmt::format("; {} corrects up to {:.1e}", link && !link->fec.empty() ? link->fec : "FEC",
                      *figures.pre_fec_ber_limit);
  if (*figures.pre_fec_ber <= 0) return text;
  const double ratio = *figures.pre_fec_ber_limit / *figures.pre_fec_ber;
  return text + (ratio >= 1 ? fmt::format(", {:.2g} times more", ratio)
                            : fmt::format(", {:.2g} times less", 1 / ratio));
}

std::string no_light_reason(const PortReport& port) {
  const auto& module = port.latest.module;
  if (!module) return "the module is unreadable";
  if (!module->present) return "no module";
  return module->kind == "dac" ? "copper has no light" : "the module reports no power";
}

}  // namespace

std::string lanes_text(const PortReport& port, const TextStyle& style, SteadyTime t) {
  const ModuleSample* module = own_module(port);
  const auto lane = shown_lane(port, module);
  if (!lane) return {};
  const auto label = [&](std::string_view name) {
    return "  " + paint_faint(pad_right(name, TextPage::kLabelColumns), style);
  };
  if (is_older_than_loss(port)) return label("Light dBm") + "not read since the link went down\n";
  std::string text = label("Light dBm") + budget_line(port, *module, *lane, t, style) + "\n";
  if (const std::string out = outward_line(port, *module, t, style); !out.empty())
    text += std::string(TextPage::kLabelColumns + 2, ' ') + out + "\n";
  if (module->lanes.size() < 2) return text;
  constexpr std::size_t kCellColumns = 21;
  const std::size_t per_line =
      std::max<std::size_t>((usable_width(style) - TextPage::kLabelColumns - 2) / kCellColumns, 1);
  for (std::size_t i = 0; i < module->lanes.size(); ++i) {
    if (i % per_line == 0)
      text += i == 0 ? label("Lanes Rx") : "\n" + std::string(TextPage::kLabelColumns + 2, ' ');
    const std::string cell = lane_cell(port, *module, i, style.ascii);
    const bool last = (i + 1) % per_line == 0 || i + 1 == module->lanes.size();
    text += last ? cell : pad_right(cell, kCellColumns);
  }
  return text + "\n";
}

std::string physics_text(const PortReport& port, const TextStyle& style) {
  const ModuleSample* module = own_module(port);
  const bool light = weakest_lane(module, &ModuleLane::rx_power_mw) ||
                     weakest_lane(module, &ModuleLane::tx_power_mw);
  std::string text;
  if (light)
    text = direction_text(direction(port, true), style) + "\n" +
           direction_text(direction(port, false), style);
  else
    text = "  " + paint_bold("Link budget", style) + "  " + no_light_reason(port) + "\n";
  return text + "\n  " + paint_bold("Pre-FEC BER", style) + "  " +
         clean_text(format_error(port), style.ascii) + "\n";
}

}  // namespace linkhealth
