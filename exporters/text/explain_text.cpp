#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "exporters/text/explain_light.h"
#include "exporters/text/explain_repairs.h"
#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

constexpr double kLeastShownConfidence = 0.005;

std::string format_port(const PortReport& port) {
  const PortId& id = port.latest.id;
  const std::string names = join_parts({id.netdev == port.port ? "" : id.netdev, id.pci}, ", ");
  return names.empty() ? port.port : fmt::format("{} ({})", port.port, names);
}

std::string format_cable(const PortReport& port) {
  const auto& module = port.latest.module;
  if (!module) return {};
  if (!module->present) return "no module";
  std::string text = module->type.empty() ? module->kind : module->type;
  if (module->length_m && *module->length_m > 0) text += fmt::format(", {:g} m", *module->length_m);
  return text;
}

std::optional<WallTime> carrier_lost_at(const PortReport& port, const ExplainView& view) {
  const auto& link = port.latest.link;
  if (!link || link->carrier != false || !port.figures.carrier_since) return std::nullopt;
  return view.now -
         std::chrono::duration_cast<WallTime::duration>(view.t - *port.figures.carrier_since);
}

std::string health_since(const PortReport& port, const ExplainView& view) {
  std::string text = format_name(to_string(port.health));
  const auto lost_at = carrier_lost_at(port, view);
  if (port.health == Health::kDown && lost_at)
    return text + " " + format_lasting(*lost_at, view.now) +
           (port.faults.empty()
                ? ""
                : "; diagnosed " + format_duration(view.now - port.faults.front().opened_at) +
                      " ago");
  if (!port.faults.empty() && port.health != Health::kHealthy)
    return text + " " + format_lasting(port.faults.front().opened_at, view.now);
  if (port.figures.carrier_since && port.latest.link && port.latest.link->carrier)
    text += fmt::format(", link {} for {}", *port.latest.link->carrier ? "up" : "down",
                        format_duration(view.t - *port.figures.carrier_since));
  return text;
}

/// "mlx5_3/1 (ens4np0, 0000:9a:00.0) ── 400G-DR4, 30 m ── leaf-12 Ethernet20/1", then the health
void header(TextPage& page, const PortReport& port, const ExplainView& view) {
  const std::string left =
      page.clean(join_parts({format_port(port), format_cable(port), port.peer}, " ── "));
  const std::string right =
      health_sign(port.health, page.style().ascii) + " " + page.clean(health_since(port, view));
  const std::size_t used = display_width(left) + display_width(right);
  page.line(paint_bold(left, page.style()) +
            (used + 2 <= page.width() ? std::string(page.width() - used, ' ') : "\n") +
            paint_health(right, port.health, page.style()));
}

/// Low light received on a lane points to the fibre towards this node.
bool shows_received_light(const FaultReport& fault, const PortReport& port) {
  const auto& module = port.latest.module;
  return module && module->kind == "optical" &&
         std::ranges::any_of(fault.evidence, [](const Evidence& evidence) {
           return evidence.supports && evidence.symptom.starts_with("rx_") &&
                  evidence.where.starts_with("lane ");
         });
}

/// Where the fault is, with a leading blank.
std::string format_place(const FaultReport& fault, const PortReport& port) {
  const std::string lanes = format_lanes(fault.lanes);
  const std::string peer = port.peer.empty() ? "" : " (" + port.peer + ")";
  switch (fault.end) {
    case End::kNone:
      return "";
    case End::kLocal:
      return " at this node's end" + (lanes.empty() ? "" : " (" + lanes + ")");
    case End::kFar:
      return fault.fault.starts_with("far_") ? peer : " at the far end" + peer;
    case End::kPath:
      // A setting of this host has no lane.
      if (std::ranges::any_of(fault.evidence, [](const Evidence& evidence) {
            return evidence.supports && evidence.symptom == "module_held";
          }))
        return " at this node's end";
      if (lanes.empty()) return " between the two ports";
      if (!shows_received_light(fault, port)) return " in the path of " + lanes;
      return (fault.fault == "damaged_fiber" ? " of " : " on the fibre of ") + lanes +
             " towards this node";
    case End::kNode:
      return " in this node";
    case End::kFabric:
      return fault.fault == "loss_elsewhere" ? " in the fabric" : " elsewhere in the fabric";
  }
  return "";
}

void verdict(TextPage& page, const FaultReport& fault, const PortReport& port, WallTime now) {
  // Indistinguishable faults are one sentence: what was seen, and the names with their probability.
  const bool undecided = fault.undecided && fault.state != FaultState::kProving;
  const std::string sentence =
      undecided ? capitalize(fault.summary) + "."
                : fmt::format("{}{}: {} confidence.", capitalize(format_name(fault.fault)),
                              format_place(fault, port), format_confidence(fault.confidence));
  for (const std::string& line : wrap(page.clean(sentence), page.width()))
    page.line(paint_health(line, port.health, page.style()));
  if (fault.state == FaultState::kProving)
    page.text(0, "The symptoms are gone; the repair is being verified. Do nothing meanwhile.", 0);
  if (fault.summary.empty() || undecided) return;
  const std::string_view stop = fault.summary.ends_with('.') ? "" : ".";
  // A link that came back shows no symptom for a while: the text describes the past.
  constexpr auto kStillSeen = std::chrono::seconds(30);
  if (fault.state == FaultState::kProving || now - fault.last_seen_at > kStillSeen)
    page.text(0,
              fmt::format("Last symptoms, {}: {}{}", format_ago(fault.last_seen_at, now),
                          fault.summary, stop),
              0);
  else
    page.text(0, fmt::format("{}{}", capitalize(fault.summary), stop), 0);
}

void steps(TextPage& page, const FaultReport& fault) {
  if (fault.repair.empty() && fault.verify.empty()) return;
  const bool verifying = fault.state == FaultState::kProving;
  page.line();
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    page.labelled(i > 0       ? ""
                  : verifying ? "If it recurs"
                              : "Do this",
                  fmt::format("{} {}", i + 1, fault.repair[i]), 2);
  const bool is_step = std::ranges::count(fault.repair, fault.to_be_sure) > 0;
  if (!verifying && !is_step) page.labelled("Confirm", fault.to_be_sure);
  page.labelled("Fixed when", fault.verify);
}

/// What was seen, its value and its limit.
std::vector<std::string> evidence_row(const Evidence& evidence, char sign, std::string_view what) {
  std::string name = fmt::format("{} {}", sign, what);
  if (!evidence.where.empty()) name += ", " + evidence.where;
  const bool statement = is_statement(evidence);
  std::string observed, limit;
  if (evidence.observed)
    observed = statement ? (*evidence.observed == 1 ? "yes" : "no")
                         : format_quantity(*evidence.observed, evidence.unit);
  if (evidence.threshold && !statement)
    limit = evidence.op + " " + format_quantity_value(*evidence.threshold, evidence.unit);
  return {name, observed, limit};
}

/// Evidence for and against, and the readings that are missing.
void why(TextPage& page, const FaultReport& fault) {
  if (fault.evidence.empty() && fault.missing.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"Why", "observed", "limit", "source"}};
  std::vector<std::string> texts = {""};
  const auto add = [&](const Evidence& evidence, char sign) {
    rows.push_back(evidence_row(evidence, sign, format_name(evidence.symptom)));
    rows.back().push_back(evidence.source);
    texts.push_back(evidence.text);
  };
  for (const bool supports : {true, false})
    for (const Evidence& evidence : fault.evidence)
      if (evidence.supports == supports) add(evidence, supports ? '+' : '-');
  page.line();
  const auto lines = align_columns(rows, 2, std::string::npos, page.style().ascii);
  page.line(paint_faint(lines[0], page.style()));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const bool only_text = rows[i][1].empty() && !texts[i].empty();
    if (only_text)
      page.text(2, rows[i][0] + ": " + texts[i]);
    else
      page.line(lines[i]);
    if (!only_text) page.text(4, texts[i], 0);
  }
  for (const MissingEvidence& missing : fault.missing) {
    std::string text = "? " + format_name(missing.symptom) + ": " + missing.why;
    if (!missing.decides.empty()) text += "; would distinguish it from " + missing.decides;
    if (!missing.how.empty()) text += ". To enable: " + missing.how;
    page.text(2, text);
  }
}

/// Readings that show no sign of another fault.
void ruled_out(TextPage& page, const FaultReport& fault) {
  if (fault.ruled_out.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"Ruled out by", "observed", "limit", "fault"}};
  for (const Evidence& evidence : fault.ruled_out) {
    rows.push_back(evidence_row(evidence, '-', evidence.text));
    rows.back().push_back(evidence.rules_out);
  }
  page.line();
  const auto lines = align_columns(rows, 2, std::string::npos, page.style().ascii);
  const auto fits = [&page](const std::string& line) {
    return display_width(line) <= page.width();
  };
  if (std::ranges::all_of(lines, fits)) return page.table(std::move(rows));
  page.line(paint_faint("  Ruled out by", page.style()));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::string limit = rows[i][2].empty() ? "" : " (limit " + rows[i][2] + ")";
    page.text(2, rows[i][0] + ": " + rows[i][1] + limit + ": " + rows[i][3]);
  }
}

/// Named under "Ruled out by": "dirty connector and damaged fibre".
bool is_ruled_out(const FaultReport& fault, const Candidate& candidate) {
  return std::ranges::any_of(fault.ruled_out, [&](const Evidence& evidence) {
    return evidence.rules_out.find(format_name(candidate.fault)) != std::string::npos;
  });
}

/// The other faults that were considered.
std::string alternatives(const FaultReport& fault) {
  std::vector<std::string> parts;
  for (const Candidate& candidate : fault.differential) {
    if (candidate.fault == fault.fault && candidate.end == fault.end) continue;
    if (candidate.confidence < kLeastShownConfidence || is_ruled_out(fault, candidate)) continue;
    const bool has_end = candidate.end != End::kNone && candidate.end != End::kPath;
    parts.push_back(fmt::format("{}{} {}", format_name(candidate.fault),
                                has_end ? fmt::format(" ({})", to_string(candidate.end)) : "",
                                format_confidence(candidate.confidence)));
  }
  return join_parts(parts, " · ");
}

/// "pre-FEC BER 3.4e-05 over 12 min (baseline 2.1e-08)"; with a confidence interval if few errors
/// were counted
std::string format_error_ratio(const PortFigures& figures) {
  std::string text = "pre-FEC BER " + format_ber(*figures.pre_fec_ber);
  if (figures.ber_window_s) text += " over " + format_duration(from_seconds(*figures.ber_window_s));
  const auto low = figures.pre_fec_ber_low, high = figures.pre_fec_ber_high;
  const std::string more = join_parts(
      {low && high && *high > 1.1 * *low
           ? fmt::format("95% confidence: {} to {}", format_ber(*low), format_ber(*high))
           : "",
       figures.pre_fec_ber_normal ? "baseline " + format_ber(*figures.pre_fec_ber_normal) : ""},
      "; ");
  return more.empty() ? text : text + " (" + more + ")";
}

std::string readings(const PortReport& port, WallTime now) {
  const PortFigures& figures = port.figures;
  const auto& link = port.latest.link;
  if (!is_link_read(port)) return "the link state cannot be read";
  // Where it is not that of the lane that lost most, which stands above.
  const bool of_another = figures.rx_power_lost_db.value_or(0) >= 0.5 && figures.worst_rx_lane &&
                          figures.rx_power_lost_lane &&
                          figures.worst_rx_lane != figures.rx_power_lost_lane;
  std::string losses =
      count_of(figures.involuntary_downs_24h, "unplanned carrier loss") + " in 24 h";
  if (figures.last_involuntary_down_at)
    losses += ", the last " + format_ago(*figures.last_involuntary_down_at, now);
  return join_parts(
      {link && link->carrier == true && link->speed_mbps
           ? join_parts({format_speed(*link->speed_mbps), link->fec}, " ")
           : "",
       figures.pre_fec_ber ? format_error_ratio(figures) : "",
       // no light has no margin
       figures.rx_power_margin_db && figures.worst_rx_power_dbm.value_or(0) > kReadsDarkDbm
           ? fmt::format("Rx margin {:.1f} dB{}", *figures.rx_power_margin_db,
                         of_another ? fmt::format(" (lane {})", *figures.worst_rx_lane) : "")
           : "",
       losses},
      " · ");
}

/// "Rx power -0.05 dB/day over 20 days: -8 dBm now, reaches -10 in 40 days (30 to 60)"
std::string format_trend(const Trend& trend) {
  const std::string_view unit = trend.what == "rx_power"  ? "dB"
                                : trend.what == "tx_bias" ? "%"
                                                          : std::string_view(trend.unit);
  return fmt::format(
      "{} {:+.2g} {}/day over {:.0f} days: {:.4g} {} now, reaches {:.4g} in {:.0f} days ({:.0f} to "
      "{:.0f})",
      format_name(trend.what), trend.per_day, unit, trend.over_days, trend.level, trend.unit,
      trend.limit, trend.days_left, trend.days_left_low, trend.days_left_high);
}

std::string format_source(std::string_view source) {
  if (source == "mad") return "from that port itself (MAD)";
  if (source == "lldp") return "from LLDP";
  if (source == "telemetry") return "from imported telemetry";
  if (source == "fleet") return "from another node of the fleet (imported)";
  return source == "plan" ? "from the plan, not confirmed" : "";
}

std::string with_age(const std::string& text, const std::optional<double>& age_s) {
  return age_s && *age_s >= 0 ? text + ", " + format_duration(from_seconds(*age_s)) + " ago" : text;
}

/// "leaf-12 Ethernet17/1, from LLDP, 12 s ago · link and counters: telemetry, 2.0 s ago"; "" if no
/// source is named
std::string format_far_end(const PortReport& port) {
  const auto& peer = port.latest.peer;
  if (!peer || format_source(peer->source).empty()) return {};
  const auto part = [](std::string_view what, const std::string& source,
                       const std::optional<double>& age_s) {
    return source.empty() ? "" : with_age(fmt::format("{}: {}", what, source), age_s);
  };
  const bool same =
      peer->link_source == peer->counters_source && peer->link_age_s == peer->counters_age_s;
  return join_parts(
      {with_age((port.peer.empty() ? "unnamed" : port.peer) + ", " + format_source(peer->source),
                peer->age_s),
       peer->description.empty() ? "" : "\"" + peer->description + "\"",
       peer->address.empty() ? "" : "managed at " + peer->address,
       part(same ? "link and counters" : "link", peer->link_source, peer->link_age_s),
       same ? "" : part("counters", peer->counters_source, peer->counters_age_s),
       part("module", peer->module_source, peer->module_age_s)},
      " · ");
}

std::string format_no_fault(const PortReport& port, SteadyTime t) {
  switch (port.health) {
    case Health::kExempt:
      return "Not monitored" + (port.exempt.empty() ? "." : ": " + port.exempt + ".");
    case Health::kUnknown:
      return "Unknown: too few sources are readable to judge this port.";
    case Health::kHealthy:
      return "Healthy: no fault signs in any readable source.";
    case Health::kDown:
      return "Link down" +
             (port.figures.carrier_since
                  ? " for " + format_duration(t - *port.figures.carrier_since)
                  : "") +
             "; cause not determined yet.";
    default:
      return "Abnormal readings; cause not determined yet.";
  }
}

void no_fault(TextPage& page, const PortReport& port, SteadyTime t) {
  page.text(0, format_no_fault(port, t), 0);
  if (port.checks.empty()) return;
  page.line();
  for (std::size_t i = 0; i < port.checks.size(); ++i)
    page.labelled(i == 0 ? "Check" : "", fmt::format("{} {}", i + 1, port.checks[i]), 2);
}

/// "19 to 1", "1 to 2.7"
std::string format_odds(double nats) {
  const double odds = std::exp(std::min(std::abs(nats), 20.0));
  const std::string number = odds < 10 ? fmt::format("{:.1f}", odds) : fmt::format("{:.0f}", odds);
  return nats >= 0 ? number + " to 1" : "1 to " + number;
}

/// The weight of each piece of evidence against the runner-up.
void weights(TextPage& page, const FaultReport& fault) {
  constexpr double kSmall = 0.05;  // nats: odds of 1.05 to 1
  if (!fault.shares || fault.shares->shares.empty()) return;
  const EvidenceShares& shares = *fault.shares;
  const bool has_end = shares.end == End::kFar || shares.end == End::kLocal;
  std::vector<std::vector<std::string>> rows = {
      {fmt::format("{} against {}{}", capitalize(format_name(fault.fault)),
                   format_name(shares.against),
                   has_end ? fmt::format(" ({})", to_string(shares.end)) : ""),
       "log-odds", "odds"}};
  const auto add = [&rows](const std::string& name, double nats) {
    rows.push_back({name, fmt::format("{:>+8.2f}", nats), format_odds(nats)});
  };
  double small = 0, sum = 0;
  for (const EvidenceShare& share : shares.shares) {
    sum += share.nats;
    if (std::abs(share.nats) < kSmall)
      small += share.nats;
    else
      add((share.nats > 0 ? "+ " : "- ") + format_name(share.symptom), share.nats);
  }
  if (std::abs(small) >= 0.005) add(small > 0 ? "+ all others" : "- all others", small);
  add("= total", sum);
  page.line();
  page.table(std::move(rows));
}

void symptom_table(TextPage& page, const PortReport& port) {
  std::vector<std::vector<std::string>> rows = {{"Symptom", "state"}};
  for (const SymptomVerdict& symptom : port.symptoms)
    rows.push_back({(symptom.verdict == "present"  ? "+ "
                     : symptom.verdict == "absent" ? "- "
                                                   : "? ") +
                        symptom.symptom,
                    join_parts({symptom.verdict, symptom.reason}, ": ")});
  page.line();
  page.table(std::move(rows));
}

void diagnosis(TextPage& page, const PortReport& port, const ExplainView& view) {
  const FaultReport& fault = port.faults.front();
  verdict(page, fault, port, view.now);
  steps(page, fault);
  if (!fault.ports.empty())
    page.labelled(
        "Shared by",
        join_parts(fault.ports, ", ") +
            (is_told_on(fault, port.port) ? "" : "; the evidence is from " + fault.ports.front()));
  if (fault.acknowledged) page.labelled("Ack", format_acknowledged(*fault.acknowledged, view.now));
  for (const auto& [label, text] : repair_rows(fault, view.now)) page.labelled(label, text);
  why(page, fault);
  ruled_out(page, fault);
}

void other_faults(TextPage& page, const PortReport& port) {
  if (!port.faults.empty()) page.labelled("Or", alternatives(port.faults.front()));
  for (std::size_t i = 1; i < port.faults.size(); ++i) {
    const FaultReport& other = port.faults[i];
    page.labelled(i == 1 ? "Also" : "",
                  fmt::format("{}{} {}: {}", format_name(other.fault), format_place(other, port),
                              format_confidence(other.confidence), other.summary));
  }
}

}  // namespace

std::string explain_text(const PortReport& port, const TextStyle& style, const ExplainView& view) {
  const bool monitored = port.health != Health::kExempt;
  TextPage page(style);
  header(page, port, view);
  page.line();
  if (port.faults.empty())
    no_fault(page, port, view.t);
  else
    diagnosis(page, port, view);
  if (port.maintenance)
    page.labelled("Maintenance", format_maintenance(*port.maintenance, view.now));
  page.line();
  if (const auto& module = port.latest.module; module && module->imported_at)
    page.labelled("Module", "imported reading of " + format_ago(*module->imported_at, view.now));
  page.append(view.physics ? physics_text(port, style) : lanes_text(port, style, view.t));
  if (monitored) page.labelled("Readings", readings(port, view.now));
  if (monitored) page.labelled("Coverage", format_coverage(port));
  for (const Trend& trend : port.trends) page.labelled("Trend", format_trend(trend));
  if (port.impact) page.labelled("Impact", format_impact(*port.impact));
  page.labelled("Note", port.note);
  if (monitored) page.labelled("Far end", format_far_end(port));
  other_faults(page, port);
  for (std::size_t i = 0; i < port.gaps.size(); ++i)
    page.labelled(i == 0 ? "Unreadable" : "",
                  fmt::format("{}: {}", port.gaps[i].probe, port.gaps[i].reason), 2);
  if (const std::string unseen = format_sight(view.sight); !unseen.empty())
    page.labelled("Node", unseen, 2);
  if (view.symptoms && !port.faults.empty()) weights(page, port.faults.front());
  if (view.symptoms) symptom_table(page, port);
  return page.result();
}

}  // namespace linkhealth
