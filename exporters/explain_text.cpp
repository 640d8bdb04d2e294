#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "exporters/explain_far_end.h"
#include "exporters/explain_light.h"
#include "exporters/explain_physics.h"
#include "exporters/explain_repairs.h"
#include "exporters/explain_shares.h"
#include "exporters/text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr std::size_t kLabelColumns = 11;

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Draws blocks of text with a label in front: "  Do this    1  clean …".
class Page {
 public:
  explicit Page(const TextStyle& style)
      : style_(style),
        width_(static_cast<std::size_t>(std::clamp(style.width_columns, 50, 1000))) {}

  void line(const std::string& text) { out_ += text + "\n"; }
  void gap() { out_ += "\n"; }
  /// Wraps `text` behind the label; `hang` more columns for the lines after the first.
  void labelled(std::string_view label, std::string_view text, std::size_t hang = 0) {
    const std::size_t left = 2 + kLabelColumns;
    const auto lines = wrap(clean(text), width_ - left - hang);
    for (std::size_t i = 0; i < lines.size(); ++i)
      line(i == 0 ? "  " + paint_faint(pad_right(label, kLabelColumns), style_) + lines[i]
                  : std::string(left + hang, ' ') + lines[i]);
  }
  void paragraph(std::string_view text) {
    for (const std::string& part : wrap(clean(text), width_)) line(part);
  }
  [[nodiscard]] std::string clean(std::string_view text) const {
    return clean_text(text, style_.ascii);
  }
  [[nodiscard]] const TextStyle& style() const { return style_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const TextStyle& style_;
  std::size_t width_;
  std::string out_;
};

std::string who(const PortReport& port) {
  const PortId& id = port.latest.id;
  std::string inside;
  for (const std::string& part : {id.netdev, id.pci})
    if (!part.empty() && part != port.port) inside += (inside.empty() ? "" : ", ") + part;
  return inside.empty() ? port.port : fmt::format("{} ({})", port.port, inside);
}

std::string cable(const PortReport& port) {
  const auto& module = port.latest.module;
  if (!module) return {};
  if (!module->present) return "no module";
  std::string text = module->type.empty() ? module->kind : module->type;
  if (module->length_m && *module->length_m > 0) text += fmt::format(", {:g} m", *module->length_m);
  return text;
}

std::string state_words(const PortReport& port, const ExplainView& view) {
  std::string text = name_words(to_string(port.health));
  if (!port.faults.empty() && port.health != Health::kHealthy)
    return text + " since " + ago_words(port.faults.front().opened_at, view.now);
  if (port.figures.carrier_since && port.latest.link && port.latest.link->carrier)
    text += fmt::format(", link {} for {}", *port.latest.link->carrier ? "up" : "down",
                        duration_words(view.t - *port.figures.carrier_since));
  return text;
}

/// "mlx5_3/1 (ens4np0, 0000:9a:00.0) ── 400G-DR4, 30 m ── leaf-12 Ethernet20/1      ▲ degraded
/// since 3 h ago"
void header(Page& page, const PortReport& port, const ExplainView& view) {
  const bool ascii = page.style().ascii;
  std::string left = who(port);
  for (const std::string& part : {cable(port), port.peer})
    if (!part.empty()) left += " ── " + part;
  left = page.clean(left);
  const std::string right =
      health_sign(port.health, ascii) + " " + page.clean(state_words(port, view));
  const std::size_t used = display_width(left) + display_width(right);
  const std::string painted = paint_health(right, port.health, page.style());
  if (used + 2 <= page.width())
    page.line(paint_bold(left, page.style()) + std::string(page.width() - used, ' ') + painted);
  else
    page.line(paint_bold(left, page.style()) + "\n" + painted);
}

/// The lanes that the supporting evidence names: "lane 2", "lanes 2 and 3".
std::string blamed_lanes(const FaultReport& fault) {
  std::set<std::string> lanes;
  for (const Evidence& evidence : fault.evidence)
    if (evidence.supports && evidence.where.starts_with("lane "))
      lanes.insert(evidence.where.substr(5));
  if (lanes.empty()) return {};
  std::string text = lanes.size() == 1 ? "lane " : "lanes ";
  std::size_t left = lanes.size();
  for (const std::string& lane : lanes) {
    text += lane;
    if (--left > 0) text += left == 1 ? " and " : ", ";
  }
  return text;
}

/// Whether the lanes are blamed for light that does not arrive: then the fibre towards this node is
/// the place.
bool on_received_light(const FaultReport& fault, const PortReport& port) {
  const auto& module = port.latest.module;
  return module && module->kind == "optical" &&
         std::any_of(fault.evidence.begin(), fault.evidence.end(), [](const Evidence& evidence) {
           return evidence.supports && evidence.symptom.starts_with("rx_") &&
                  evidence.where.starts_with("lane ");
         });
}

std::string place_words(const FaultReport& fault, const PortReport& port) {
  const std::string lanes = blamed_lanes(fault);
  switch (fault.end) {
    case End::kNone:
      return "";
    case End::kLocal:
      return " at this node's end" + (lanes.empty() ? "" : " (" + lanes + ")");
    case End::kFar:
      if (fault.fault.starts_with("far_")) return port.peer.empty() ? "" : " (" + port.peer + ")";
      return " at the far end" + (port.peer.empty() ? "" : " (" + port.peer + ")");
    case End::kPath:
      if (!lanes.empty() && on_received_light(fault, port))
        return " on the fibre that carries " + lanes + " towards this node";
      return lanes.empty() ? " between the two ports" : " in the path of " + lanes;
    case End::kNode:
      return " in this node";
    case End::kFabric:
      return " elsewhere in the fabric";
  }
  return "";
}

void verdict(Page& page, const FaultReport& fault, const PortReport& port) {
  const std::string sentence =
      fmt::format("{}{}: {} sure.", capital(name_words(fault.fault)), place_words(fault, port),
                  confidence_words(fault.confidence));
  for (const std::string& line : wrap(page.clean(sentence), page.width()))
    page.line(paint_health(line, port.health, page.style()));
  if (fault.state == FaultState::kProving)
    page.paragraph(
        "Its signs are gone and the repair proves itself: nothing is to be done while it does.");
  else if (fault.state != FaultState::kOpen && !fault.acknowledged)
    page.paragraph(fmt::format("The fault is {}.", to_string(fault.state)));
  if (!fault.summary.empty())
    page.paragraph(capital(fault.summary) + (fault.summary.ends_with('.') ? "" : "."));
}

void steps(Page& page, const FaultReport& fault) {
  if (fault.repair.empty() && fault.verify.empty()) return;
  page.gap();
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    page.labelled(i == 0   ? (fault.state == FaultState::kProving ? "If back" : "Do this")
                  : i == 1 ? "next"
                           : "",
                  fmt::format("{} {}", i + 1, fault.repair[i]), 2);
  if (!fault.to_be_sure.empty() && fault.state != FaultState::kProving)
    page.labelled("To be sure", fault.to_be_sure);
  if (!fault.verify.empty()) page.labelled("Proof", fault.verify);
}

struct WhyRow {
  std::string name, observed, limit, source, text;
};

WhyRow why_row(const Page& page, const Evidence& evidence) {
  WhyRow row;
  row.name = evidence.supports ? "+ " : "- ";
  row.name += name_words(evidence.symptom);
  if (!evidence.where.empty()) row.name += ", " + evidence.where;
  const bool statement =
      evidence.op == "=" && evidence.threshold == 1.0 && evidence.unit.empty();  // true or not
  if (evidence.observed) row.observed = quantity_words(*evidence.observed, evidence.unit);
  if (evidence.observed && statement) row.observed = *evidence.observed == 1 ? "yes" : "no";
  if (evidence.threshold && !statement)
    row.limit = evidence.op + " " + number_words(*evidence.threshold, evidence.unit);
  row.source = evidence.source;
  row.text = evidence.text;
  for (std::string* part : {&row.name, &row.observed, &row.limit, &row.source, &row.text})
    *part = page.clean(*part);
  return row;
}

/// The table "Why": what speaks for the verdict, what speaks against it, what could not be seen and
/// how it could be.
void why(Page& page, const FaultReport& fault) {
  if (fault.evidence.empty() && fault.missing.empty()) return;
  std::vector<WhyRow> rows;
  for (const bool supports : {true, false})
    for (const Evidence& evidence : fault.evidence)
      if (evidence.supports == supports) rows.push_back(why_row(page, evidence));
  for (const Evidence& evidence : fault.ruled_out) {
    rows.push_back(why_row(page, evidence));
    rows.back().name[0] = '-';  // it does not show, and speaks against others
  }
  std::size_t name = 24;
  std::size_t observed = 8;
  std::size_t limit = 5;
  for (const WhyRow& row : rows) {
    name = std::max(name, display_width(row.name));
    observed = std::max(observed, display_width(row.observed));
    limit = std::max(limit, display_width(row.limit));
  }
  page.gap();
  page.line(paint_faint("  " + pad_right("Why", name) + "  " + pad_right("observed", observed) +
                            "  " + pad_right("limit", limit) + "  source",
                        page.style()));
  for (const WhyRow& row : rows) {
    if (!row.observed.empty() || row.text.empty())
      page.line("  " + pad_right(row.name, name) + "  " + pad_right(row.observed, observed) + "  " +
                pad_right(row.limit, limit) + "  " + row.source);
    if (!row.text.empty())
      for (const std::string& line :
           wrap(row.observed.empty() ? row.name + ": " + row.text : row.text, page.width() - 6))
        page.line(
            (row.observed.empty() && line.starts_with(row.name.substr(0, 2)) ? "  " : "    ") +
            line);
  }
  for (const MissingEvidence& missing : fault.missing) {
    std::string text = name_words(missing.symptom) + ": " + missing.why;
    if (!missing.decides.empty()) text += "; it would tell this from " + missing.decides;
    if (!missing.how.empty()) text += ". To see it: " + missing.how;
    const auto lines = wrap(page.clean(text), page.width() - 4);
    for (std::size_t i = 0; i < lines.size(); ++i) page.line((i == 0 ? "  ? " : "    ") + lines[i]);
  }
}

/// Two names side by side, and what to do to know.
void undecided(Page& page, const FaultReport& fault) {
  if (!fault.undecided) return;
  const Undecided& other = *fault.undecided;
  const std::string end = other.end == End::kNone || other.end == End::kPath
                              ? ""
                              : fmt::format(" ({})", to_string(other.end));
  std::string text = fmt::format("from here it cannot be told whether it is {} ({}) or {}{} ({}).",
                                 name_words(fault.fault), confidence_words(fault.confidence),
                                 name_words(other.fault), end, confidence_words(other.confidence));
  if (!other.test.empty()) text += fmt::format(" Cheapest test: {}.", other.test);
  page.labelled("Not sure", text);
}

void alternatives(Page& page, const FaultReport& fault) {
  std::string text;
  for (const Candidate& candidate : fault.differential) {
    if (candidate.fault == fault.fault && candidate.end == fault.end) continue;
    if (candidate.confidence < 0.005) continue;
    text += (text.empty() ? "" : " · ") + name_words(candidate.fault);
    if (candidate.end != End::kNone && candidate.end != End::kPath)
      text += fmt::format(" ({})", to_string(candidate.end));
    text += " " + confidence_words(candidate.confidence);
  }
  if (!text.empty()) page.labelled("Or", text);
}

/// "pre-FEC BER 3.4e-05 over 12 min (normal 2.1e-08)"; where few errors were counted, also what
/// they say of the true one
std::string error_ratio_words(const PortFigures& figures) {
  std::string text = "pre-FEC BER " + ber_words(*figures.pre_fec_ber);
  if (figures.ber_window_s) text += " over " + duration_words(from_seconds(*figures.ber_window_s));
  const auto& [low, high] = std::pair(figures.pre_fec_ber_low, figures.pre_fec_ber_high);
  std::string more;
  if (low && high && *high > 1.1 * *low)
    more = fmt::format("95 %: {} to {}", ber_words(*low), ber_words(*high));
  if (figures.pre_fec_ber_normal)
    more += (more.empty() ? "" : "; ") + ("normal " + ber_words(*figures.pre_fec_ber_normal));
  return more.empty() ? text : text + " (" + more + ")";
}

std::string drop_words(const PortFigures& figures, WallTime now) {
  const std::uint64_t drops = figures.involuntary_downs_24h;
  const std::string last = figures.last_involuntary_down_at
                               ? ", the last " + ago_words(*figures.last_involuntary_down_at, now)
                               : "";
  return fmt::format("{} involuntary drop{} in 24 h{}", drops, drops == 1 ? "" : "s", last);
}

void figures(Page& page, const PortReport& port, WallTime now) {
  const PortFigures& figures = port.figures;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " · ") + part; };
  if (port.latest.link && port.latest.link->carrier == true && port.latest.link->speed_mbps)
    add(speed_words(*port.latest.link->speed_mbps) +
        (port.latest.link->fec.empty() ? "" : " " + port.latest.link->fec));
  if (figures.pre_fec_ber) add(error_ratio_words(figures));
  if (figures.rx_power_margin_db)
    add(fmt::format("Rx margin {:.1f} dB", *figures.rx_power_margin_db));
  add(drop_words(figures, now));
  page.labelled("Numbers", text);
}

/// "Rx power -0.05 dB/day, reaches -10.0 dBm in about 40 days (30 to 60)"
void trends(Page& page, const PortReport& port) {
  for (const Trend& trend : port.trends) {
    const std::string_view unit = trend.what == "rx_power"  ? "dB"
                                  : trend.what == "tx_bias" ? "%"
                                                            : std::string_view(trend.unit);
    page.labelled(
        "Trend",
        fmt::format(
            "{} {:+.2g} {}/day over {:.0f} days: {:.4g} {} now, reaches {:.4g} in {:.0f} days "
            "({:.0f} to {:.0f})",
            name_words(trend.what), trend.per_day, unit, trend.over_days, trend.level, trend.unit,
            trend.limit, trend.days_left, trend.days_left_low, trend.days_left_high));
  }
}

/// The light, the limits and the temperature are then no older and no newer than that.
void imported(Page& page, const PortReport& port, const ExplainView& view) {
  const auto& module = port.latest.module;
  if (module && module->imported_at)
    page.labelled("Module",
                  "read by somebody else (imported) " + ago_words(*module->imported_at, view.now));
}

void far_end(Page& page, const PortReport& port) {
  if (const std::string text = far_end_words(port); !text.empty()) page.labelled("Far end", text);
}

void cannot_see(Page& page, const PortReport& port) {
  for (std::size_t i = 0; i < port.gaps.size(); ++i)
    page.labelled(i == 0 ? "Can't see" : "",
                  fmt::format("? {}: {}", port.gaps[i].probe, port.gaps[i].reason), 2);
}

void no_fault(Page& page, const PortReport& port) {
  switch (port.health) {
    case Health::kExempt:
      page.paragraph((port.exempt.empty() ? "Exempt" : "Exempt: " + port.exempt) +
                     ". Nothing is expected of this port.");
      return;
    case Health::kUnknown:
      page.paragraph(
          "Not enough can be read to judge this port: that is neither healthy nor faulty.");
      return;
    case Health::kHealthy:
      page.paragraph("Healthy: nothing that can be seen speaks against this link.");
      return;
    default:
      page.paragraph("Something is not as it should be, and no known fault explains it yet.");
      return;
  }
}

void symptom_table(Page& page, const PortReport& port) {
  page.gap();
  std::size_t name = 20;
  for (const SymptomVerdict& symptom : port.symptoms) name = std::max(name, symptom.symptom.size());
  page.line(paint_faint("  " + pad_right("Symptom", name + 2) + "  verdict", page.style()));
  for (const SymptomVerdict& symptom : port.symptoms) {
    const std::string_view sign = symptom.verdict == "present"  ? "+ "
                                  : symptom.verdict == "absent" ? "- "
                                                                : "? ";
    std::string text = symptom.verdict;
    if (!symptom.reason.empty()) text += ": " + symptom.reason;
    page.line(
        page.clean("  " + pad_right(std::string(sign) + symptom.symptom, name + 2) + "  " + text));
  }
}

}  // namespace

std::string explain_text(const PortReport& port, const TextStyle& style, const ExplainView& view) {
  Page page(style);
  header(page, port, view);
  page.gap();
  if (port.faults.empty()) {
    no_fault(page, port);
  } else {
    const FaultReport& fault = port.faults.front();
    verdict(page, fault, port);
    undecided(page, fault);
    steps(page, fault);
    if (fault.acknowledged)
      page.labelled("Noted", acknowledged_words(*fault.acknowledged, view.now));
    for (const auto& [label, text] : repair_rows(fault, view.now)) page.labelled(label, text);
    why(page, fault);
  }
  if (port.maintenance) page.labelled("Work", maintenance_words(*port.maintenance, view.now));
  page.gap();
  imported(page, port, view);
  for (const std::string& line :
       view.physics ? physics_lines(port, style) : light_lines(port, style))
    page.line(line);
  if (port.health != Health::kExempt) figures(page, port, view.now);
  trends(page, port);
  if (port.impact) page.labelled("Impact", impact_words(*port.impact));
  if (!port.note.empty()) page.labelled("Note", port.note);
  if (port.health != Health::kExempt) far_end(page, port);
  if (!port.faults.empty()) alternatives(page, port.faults.front());
  for (std::size_t i = 1; i < port.faults.size(); ++i) {
    const FaultReport& other = port.faults[i];
    page.labelled(i == 1 ? "Also" : "",
                  fmt::format("{}{} {}: {}", name_words(other.fault), place_words(other, port),
                              confidence_words(other.confidence), other.summary));
  }
  cannot_see(page, port);
  if (view.symptoms && !port.faults.empty())
    for (const std::string& line : share_lines(port.faults.front(), style)) page.line(line);
  if (view.symptoms) symptom_table(page, port);
  return page.take();
}

}  // namespace linkhealth
