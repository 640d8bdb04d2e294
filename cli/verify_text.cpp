#include "cli/verify_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

/// Rounded down: never shown as more certain than it is.
std::string confidence_so_far(double confidence) {
  return confidence >= 0.995 ? ">99%" : fmt::format("{:.0f}%", std::floor(100 * confidence));
}

/// The repaired lane, before and after; otherwise the worst lane.
std::string format_rx(const PortReport& port, const std::optional<RepairRecord>& repair) {
  const PortFigures& figures = port.figures;
  const auto& module = port.latest.module;
  if (repair && repair->rx_lane && module && *repair->rx_lane - 1 < module->lanes.size())
    if (const auto& power_mw = module->lanes[*repair->rx_lane - 1].rx_power_mw)
      if (const auto now_dbm = dbm_from_mw(*power_mw))
        return fmt::format("Rx lane {} {:.1f} dBm (was {:.1f})", *repair->rx_lane, *now_dbm,
                           *repair->rx_power_before_dbm);
  if (!figures.worst_rx_power_dbm || !std::isfinite(*figures.worst_rx_power_dbm)) return "";
  return fmt::format("Rx {}{:.1f} dBm",
                     figures.worst_rx_lane ? fmt::format("lane {} ", *figures.worst_rx_lane) : "",
                     *figures.worst_rx_power_dbm);
}

std::string conditions(const VerifyLimits& limits) {
  return fmt::format(
      "no carrier loss for {}, no uncorrectable block, BER below {:.0e} with {:.0f}% confidence",
      long_duration(limits.least_s), limits.ber, 100 * limits.confidence);
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

std::string verify_header(const PortReport& port, const VerifyLimits& limits,
                          const TextStyle& style) {
  const auto& link = port.latest.link;
  std::string text = "Verifying " + port.port;
  if (link && link->speed_mbps && *link->speed_mbps > 0) {
    const double needed_s = std::max(
        limits.least_s, -std::log(1 - limits.confidence) / (limits.ber * *link->speed_mbps * 1e6));
    text +=
        fmt::format(" at {} (takes {})", format_speed(*link->speed_mbps), long_duration(needed_s));
  }
  return paragraph("", 0, clean_text(text + ": " + conditions(limits), style.ascii),
                   usable_width(style));
}

std::string qualify_header(const Report& report, std::size_t ports, const VerifyLimits& limits,
                           const TextStyle& style) {
  const std::size_t exempt = report.ports.size() - ports;
  const std::string text =
      fmt::format("Verifying {}: {}{}; each: {}", report.node, count_of(ports, "port"),
                  exempt > 0 ? fmt::format(" ({} exempt)", exempt) : "", conditions(limits));
  return paragraph("", 0, clean_text(text, style.ascii), usable_width(style));
}

std::string verify_progress(const PortReport& port, const VerifyState& state,
                            const TextStyle& style) {
  constexpr std::size_t kBarColumns = 24;
  if (state.verdict == VerifyVerdict::kWaiting) return "  waiting for the link to come up";
  std::string text =
      fmt::format("  {} {:3.0f}%   {} left", bar(state.progress(), kBarColumns, style.ascii),
                  100 * state.progress(), long_duration(state.remaining_s));
  // On a narrow terminal the last parts are omitted.
  for (const std::string& part :
       {"confidence " + confidence_so_far(state.confidence), fmt::format("errors {}", state.errors),
        port.figures.pre_fec_ber ? "pre-FEC " + format_ber(*port.figures.pre_fec_ber) : "",
        format_rx(port, state.repair)})
    if (!part.empty() && display_width(text) + 3 + display_width(part) <= usable_width(style))
      text += "   " + part;
  return text;
}

std::string verify_verdict(const PortReport& port, const VerifyState& state,
                           const TextStyle& style) {
  const bool pass = state.verdict == VerifyVerdict::kPass;
  std::string text = port.port + ": " + state.reason;
  if (pass)
    text =
        fmt::format("{}: BER below the limit with {} confidence, no carrier loss for {}", port.port,
                    confidence_so_far(state.confidence), long_duration(state.elapsed_s));
  if (const auto& repair = state.repair; pass && repair)
    text += fmt::format("; {:+.1f} dB{} since the repair",
                        *repair->rx_power_after_dbm - *repair->rx_power_before_dbm,
                        repair->rx_lane ? fmt::format(" on lane {}", *repair->rx_lane) : "");
  const std::string word = pass                                    ? "PASS  "
                           : state.verdict == VerifyVerdict::kFail ? "FAIL  "
                                                                   : "UNKNOWN  ";
  return paragraph(word, word.size(), clean_text(text, style.ascii), usable_width(style));
}

std::string verify_json(const PortReport& port, const VerifyState& state, WallTime now) {
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
