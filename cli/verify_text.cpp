#include "cli/verify_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/text_layout.h"
#include "model/json.h"

namespace linkhealth::cli {

namespace {

constexpr std::size_t kBarColumns = 24;

std::string bar(double share, bool ascii) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarColumns);
  std::string text;
  for (std::size_t i = 0; i < kBarColumns; ++i)
    text += i < full ? (ascii ? "#" : "█") : (ascii ? "." : "░");
  return text;
}

/// The light of one lane now; nullopt: dark, or not read.
std::optional<double> lane_dbm(const PortReport& port, std::uint32_t lane) {
  const auto& module = port.latest.module;
  if (!module || lane == 0 || lane > module->lanes.size() || !module->lanes[lane - 1].rx_power_mw)
    return std::nullopt;
  return dbm_from_mw(*module->lanes[lane - 1].rx_power_mw);
}

/// Never more certain than it is.
std::string sure_words(double confidence) {
  return confidence >= 0.995 ? ">99%" : fmt::format("{:.0f}%", std::floor(100 * confidence));
}

/// The lane that was repaired against what it was; else the worst.
std::string rx_words(const PortReport& port, const std::optional<RepairRecord>& repair) {
  const PortFigures& figures = port.figures;
  if (repair && repair->rx_lane)
    if (const auto now_dbm = lane_dbm(port, *repair->rx_lane))
      return fmt::format("Rx lane {} {:.1f} dBm (was {:.1f})", *repair->rx_lane, *now_dbm,
                         *repair->rx_power_before_dbm);
  if (!figures.worst_rx_power_dbm || !std::isfinite(*figures.worst_rx_power_dbm)) return "";
  std::string text =
      figures.worst_rx_lane ? fmt::format("Rx lane {} ", *figures.worst_rx_lane) : "Rx ";
  return text + fmt::format("{:.1f} dBm", *figures.worst_rx_power_dbm);
}

std::string conditions(const ProofLimits& limits) {
  return fmt::format(
      "no drop for {}, uncorrectable blocks 0, BER below {:.0e} with {:.0f}% confidence",
      long_duration(limits.least_s), limits.ber, 100 * limits.confidence);
}

std::string wrapped(const std::string& text, const TextStyle& style) {
  std::string out;
  for (const std::string& line : wrap(clean_text(text, style.ascii),
                                      static_cast<std::size_t>(std::max(style.width_columns, 40))))
    out += line + "\n";
  return out;
}

/// "PASS  " and the rest, wrapped behind it.
std::string behind(const std::string& word, const std::string& text, const TextStyle& style) {
  const std::size_t indent = word.size() + 2;
  std::string out = word + "  ";
  const auto lines = wrap(clean_text(text, style.ascii),
                          static_cast<std::size_t>(std::max(style.width_columns, 60)) - indent);
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? "" : std::string(indent, ' ')) + lines[i] + "\n";
  return out;
}

}  // namespace

std::string long_duration(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::max(0.0, std::ceil(seconds)));
  if (total < 60) return fmt::format("{} s", total);
  const std::uint64_t minutes = (total + 30) / 60;
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes >= 2880) return fmt::format("{} d {} h", minutes / 1440, minutes % 1440 / 60);
  return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60)
                           : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string verify_header(const PortReport& port, const ProofLimits& limits,
                          const TextStyle& style) {
  const auto& link = port.latest.link;
  std::string at;
  double needed_s = 0;
  if (link && link->speed_mbps && *link->speed_mbps > 0) {
    at = " at " + speed_words(*link->speed_mbps);
    needed_s = std::max(limits.least_s,
                        -std::log(1 - limits.confidence) / (limits.ber * *link->speed_mbps * 1e6));
  }
  return wrapped(fmt::format("Proving {}{}: {}{}", port.port, at, conditions(limits),
                             needed_s > 0 ? " (takes " + long_duration(needed_s) + ")" : ""),
                 style);
}

std::string qualify_header(const Report& report, std::size_t ports, const ProofLimits& limits,
                           const TextStyle& style) {
  const std::size_t exempt = report.ports.size() - ports;
  return wrapped(
      fmt::format("Qualifying {}: {} port{}{}; each: {}", report.node, ports, ports == 1 ? "" : "s",
                  exempt > 0 ? fmt::format(" ({} exempt)", exempt) : "", conditions(limits)),
      style);
}

std::string verify_progress(const PortReport& port, const ProofState& state,
                            const TextStyle& style) {
  if (state.verdict == ProofVerdict::kWaiting) return "  waiting for the link to come up";
  std::string text = fmt::format("  {} {:3.0f}%   {} left", bar(state.progress(), style.ascii),
                                 100 * state.progress(), long_duration(state.remaining_s));
  // What does not fit is left out, the least important first.
  const auto width = static_cast<std::size_t>(std::max(style.width_columns, 40));
  const auto add = [&](const std::string& part) {
    if (!part.empty() && display_width(text) + 3 + display_width(part) <= width)
      text += "   " + part;
  };
  add("confidence " + sure_words(state.confidence));
  add(fmt::format("errors {}", state.errors));
  add("drops 0");
  if (port.figures.pre_fec_ber) add("pre-FEC " + ber_words(*port.figures.pre_fec_ber));
  add(rx_words(port, state.repair));
  return text;
}

std::string verify_verdict(const PortReport& port, const ProofState& state,
                           const TextStyle& style) {
  if (state.verdict != ProofVerdict::kPass)
    return behind(state.verdict == ProofVerdict::kFail ? "FAIL" : "NOT KNOWN",
                  port.port + ": " + state.reason, style);
  std::string text =
      fmt::format("{}: BER below the limit with {} confidence, {} without a drop", port.port,
                  sure_words(state.confidence), long_duration(state.elapsed_s));
  if (const auto& repair = state.repair)
    text += fmt::format("; {:+.1f} dB{} since the repair",
                        *repair->rx_power_after_dbm - *repair->rx_power_before_dbm,
                        repair->rx_lane ? fmt::format(" on lane {}", *repair->rx_lane) : "");
  return behind("PASS", text, style);
}

std::string verify_json(const PortReport& port, const ProofState& state, WallTime now) {
  OrderedJson out;
  out["schema"] = "linkhealth.verify/1";
  out["at"] = format_rfc3339(now);
  out["port"] = port.port;
  out["state"] = to_string(state.verdict);
  if (!state.reason.empty()) out["reason"] = state.reason;
  out["progress"] = std::round(1000 * state.progress()) / 1000;
  out["confidence"] = state.confidence;
  out["elapsed_s"] = state.elapsed_s;
  out["remaining_s"] = std::ceil(state.remaining_s);
  out["bits"] = state.bits;
  out["errors"] = state.errors;
  if (port.figures.pre_fec_ber) out["pre_fec_ber"] = *port.figures.pre_fec_ber;
  if (port.figures.worst_rx_power_dbm) out["worst_rx_power_dbm"] = *port.figures.worst_rx_power_dbm;
  return format_json(out);
}

}  // namespace linkhealth::cli
