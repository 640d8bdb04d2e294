#include "exporters/text/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "exporters/json/json.h"
#include "exporters/text/explain_repairs.h"
#include "exporters/text/plot.h"
#include "exporters/text/text_layout.h"
#include "model/history/history.h"

namespace linkhealth {

namespace {

constexpr std::size_t kLabelColumns = 7;
constexpr std::size_t kMostColumns = 160;
constexpr std::size_t kNameColumns = 22;
constexpr std::size_t kRangeColumns = 24;

/// A value within the last steps counts as the present one: modules are read every 30 s, so in
/// every third step of 10 s.
constexpr std::size_t kRecentSteps = 8;

struct Range {
  double least = 0, most = 0, sum = 0, last = 0;
  bool recent = false;  ///< `last` is recent
};
std::optional<Range> range_of(const std::vector<double>& values) {
  std::optional<Range> range;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    if (!range) range = Range{value, value};
    range->least = std::min(range->least, value);
    range->most = std::max(range->most, value);
    range->sum += value;
    range->last = value;
    range->recent = i + kRecentSteps >= values.size();
  }
  return range;
}

/// No light is stored as a very low power.
bool is_dark(double dbm) { return dbm <= kDarkDbm; }

/// A scale with whole steps at both ends and in the middle.
Axis axis_of(const Range& range, double step, double least_span) {
  Axis axis{std::floor(range.least / step) * step - step, std::ceil(range.most / step) * step};
  const double span = std::max(least_span, axis.high - axis.low);
  axis.low = axis.high - 2 * step * std::ceil(span / (2 * step));
  return axis;
}

std::string format_limit(std::string_view name, const std::optional<double>& limit, int digits) {
  return limit ? fmt::format("; {} {:.{}f}", name, *limit, digits) : "";
}

struct Sparkline {
  Signal signal;
  std::string_view name;
  PlotFold fold;  ///< kSum: events, shown with their number
  std::string_view unit;
  int digits = 1;
};
constexpr std::array<Sparkline, 16> kSparklines{
    {{Signal::kCarrierDowns, "carrier losses", PlotFold::kSum, ""},
     {Signal::kVoluntaryDowns, "planned losses", PlotFold::kSum, ""},
     {Signal::kUncorrectableBlocks, "uncorrectable blocks", PlotFold::kSum, ""},
     {Signal::kSymbolErrors, "symbol errors", PlotFold::kSum, ""},
     {Signal::kFrameErrors, "frame errors", PlotFold::kSum, ""},
     {Signal::kLinkRecoveries, "link recoveries", PlotFold::kSum, ""},
     {Signal::kForwardedErrors, "forwarded errors", PlotFold::kSum, ""},
     {Signal::kRetries, "retries", PlotFold::kSum, ""},
     {Signal::kHostDrops, "discards by this host", PlotFold::kSum, ""},
     {Signal::kPcieErrors, "PCIe errors", PlotFold::kSum, ""},
     {Signal::kTxPower, "Tx power", PlotFold::kLeast, "dBm"},
     {Signal::kTxBias, "laser bias", PlotFold::kMost, "mA"},
     {Signal::kFarRxPower, "far Rx power", PlotFold::kLeast, "dBm"},
     {Signal::kFarTxPower, "far Tx power", PlotFold::kLeast, "dBm"},
     {Signal::kSupply, "supply", PlotFold::kLeast, "V", 2},
     {Signal::kRxTraffic, "traffic in", PlotFold::kMost, "Mb/s", 0}}};

/// The diagnosis; for later events the operator's action or the duration.
std::string format_event(const FaultEvent& event) {
  const FaultReport& fault = event.fault;
  const std::string name = format_name(fault.fault);
  if (event.kind == FaultEventKind::kAcknowledged && fault.acknowledged) {
    const Acknowledgement& ack = *fault.acknowledged;
    return fmt::format("{}, by {} {}{}{}", name, ack.by,
                       ack.until ? "until " + format_instant(*ack.until) : "until it closes",
                       ack.reason.empty() ? "" : ": ", ack.reason);
  }
  if (event.kind == FaultEventKind::kProving) return name + ": the symptoms are gone";
  if (event.kind == FaultEventKind::kClosed && fault.opened_at < event.at)
    return fmt::format("{}, after {}", name, format_duration(event.at - fault.opened_at));
  return fmt::format("{} ({}, {}, {}): {}", name, to_string(fault.end), to_string(fault.severity),
                     format_confidence(fault.confidence), fault.summary);
}

Health colour_of(const FaultEvent& event) {
  if (event.kind == FaultEventKind::kClosed) return Health::kHealthy;
  if (event.kind == FaultEventKind::kAcknowledged || event.kind == FaultEventKind::kProving)
    return Health::kAtRisk;
  return event.fault.severity == Severity::kCritical ? Health::kDown : Health::kDegraded;
}

struct TimelineEntry {
  WallTime at;
  std::string word, text;
  Health colour = Health::kExempt;
};

std::vector<TimelineEntry> timeline_of(const PortTimeline& past, const PortReport& port) {
  std::vector<TimelineEntry> entries;
  for (const FaultEvent& event : past.events)
    entries.push_back(
        {event.at,
         event.kind == FaultEventKind::kProving ? "verifying" : std::string(to_string(event.kind)),
         format_event(event), colour_of(event)});
  // Open faults that began before the displayed time, or after it if the clock was set back.
  for (const FaultReport& fault : port.faults)
    if (std::ranges::none_of(past.events, [&fault](const FaultEvent& event) {
          return event.fault.id == fault.id && event.kind == FaultEventKind::kOpened;
        }))
      entries.push_back({fault.opened_at, "open",
                         format_name(fault.fault) + ", since then: " + fault.summary,
                         Health::kDegraded});
  for (const RepairRecord& repair : past.repairs)
    entries.push_back({repair.at, "repair", format_repair(repair)});
  for (const Maintenance& work : past.maintenance) {
    entries.push_back({work.since, "maintenance", format_maintenance_begun(work)});
    if (work.ended_at)
      entries.push_back({*work.ended_at, "maintenance",
                         "ended after " + format_duration(*work.ended_at - work.since)});
  }
  std::ranges::stable_sort(entries, {}, &TimelineEntry::at);
  return entries;
}

class TimelineText {
 public:
  TimelineText(const PortTimeline& past, const PortReport& port, const TextStyle& style)
      : timeline_(past),
        port_(port),
        page_(style),
        columns_(std::min(page_.width() - kLabelColumns - 2, kMostColumns)) {}

  std::string draw() {
    heading();
    if (timeline_.at.empty()) {
      page_.line("No readings in this time.");
    } else {
      plot_power();
      plot_error_ratio();
      plot_temperature();
      sparklines();
    }
    timeline();
    identities();
    return page_.result();
  }

 private:
  void title(const std::string& text) {
    page_.line();
    page_.title(text);
  }
  [[nodiscard]] const std::vector<double>* values(Signal signal) const {
    const SignalSeries* series = timeline_.find(signal);
    return series == nullptr ? nullptr : &series->values;
  }

  void heading() {
    const std::string& netdev = port_.latest.id.netdev;
    const std::string name = join_parts({port_.port, netdev == port_.port ? "" : netdev,
                                         port_.peer.empty() ? "" : "to " + port_.peer},
                                        "  ");
    page_.line(
        paint_bold(cut(page_.clean(name), page_.width(), page_.style().ascii), page_.style()));
    page_.text(0, fmt::format("{} to {}, in steps of {}", format_instant(timeline_.from),
                              format_instant(timeline_.to),
                              format_duration(std::chrono::seconds(timeline_.step_s))));
  }

  void plot(const std::vector<double>& values, PlotFold fold, std::size_t height, Axis axis,
            std::function<std::string(double)> label) {
    const Plot plot{height, axis, std::move(label), page_.style().ascii};
    for (const std::string& row :
         plot_lines(in_columns(values, columns_, fold), plot, kLabelColumns))
      page_.line(row);
    page_.line(std::string(kLabelColumns + 2, ' ') +
               time_axis(timeline_.from, timeline_.to, columns_));
  }

  /// Times without light are empty columns, not a very low power that would flatten the plot.
  void plot_power() {
    const auto* powers = values(Signal::kRxPower);
    const auto all = powers == nullptr ? std::nullopt : range_of(*powers);
    if (!all) return;
    std::vector<double> lit = *powers;
    std::ranges::replace_if(lit, is_dark, kUnknownValue);
    const auto range = range_of(lit);
    if (!range) return title("Rx power: no light in this time");
    const std::string_view last = is_dark(all->last) ? "before" : range->recent ? "now" : "last";
    const std::string_view dark = !is_dark(all->least) ? ""
                                  : is_dark(all->last) ? "; now no light"
                                                       : "; at times no light";
    const auto& module = port_.latest.module;
    const auto alarm_mw = module ? module->thresholds.rx_power_mw.low_alarm : std::nullopt;
    title(fmt::format(
        "Rx power of the worst lane, dBm: {} {:.1f}, min {:.1f}, max {:.1f}{}{}", last, range->last,
        range->least, range->most, dark,
        format_limit("module's low alarm", alarm_mw ? dbm_from_mw(*alarm_mw) : std::nullopt, 1)));
    plot(lit, PlotFold::kLeast, 6, axis_of(*range, 1, 3),
         [](double value) { return fmt::format("{:.1f}", value); });
  }

  /// In decades. A step without an error is drawn at the lower end.
  void plot_error_ratio() {
    constexpr double kNoError = -30;
    const auto* ratios = values(Signal::kPreFecBer);
    const auto range = ratios == nullptr ? std::nullopt : range_of(*ratios);
    if (!range) return;
    if (range->most <= 0) return title("Pre-FEC BER: no bit was corrected in this time");
    std::vector<double> decades, seen;
    for (const double value : *ratios) {
      decades.push_back(value > 0 ? std::log10(value) : value == 0 ? kNoError : kUnknownValue);
      if (value > 0) seen.push_back(decades.back());
    }
    title(fmt::format(
        "Pre-FEC BER: {} {}, max {}{}", range->recent ? "now" : "last", format_ber(range->last),
        format_ber(range->most),
        port_.figures.pre_fec_ber_limit
            ? fmt::format("; FEC corrects up to {:.1e}", *port_.figures.pre_fec_ber_limit)
            : ""));
    plot(decades, PlotFold::kMost, 6, axis_of(*range_of(seen), 1, 4),
         [](double value) { return fmt::format("{:.0e}", std::pow(10, value)); });
  }

  void plot_temperature() {
    const auto* degrees = values(Signal::kTemperature);
    const auto range = degrees == nullptr ? std::nullopt : range_of(*degrees);
    if (!range) return;
    const auto& module = port_.latest.module;
    title(fmt::format(
        "Module temperature, °C: {} {:.1f}, min {:.1f}, max {:.1f}{}",
        range->recent ? "now" : "last", range->last, range->least, range->most,
        format_limit("module's high alarm",
                     module ? module->thresholds.temperature_c.high_alarm : std::nullopt, 0)));
    plot(*degrees, PlotFold::kMost, 4, axis_of(*range, 5, 10),
         [](double value) { return fmt::format("{:.0f}", value); });
  }

  /// Event counts and the other measurements: one line each.
  void sparklines() {
    std::vector<std::string> none;
    page_.line();
    for (const Sparkline& row : kSparklines) {
      const auto* series = values(row.signal);
      const auto range = series == nullptr ? std::nullopt : range_of(*series);
      if (!range) continue;
      if (row.fold == PlotFold::kSum && range->sum == 0)
        none.emplace_back(row.name);
      else
        page_.line(sparkline_of(row, *series, *range));
    }
    if (!none.empty()) page_.text(0, "None: " + join_parts(none, ", "));
  }

  [[nodiscard]] std::string sparkline_of(const Sparkline& row, const std::vector<double>& values,
                                         const Range& range) const {
    const bool counts = row.fold == PlotFold::kSum;
    const std::string words = counts ? fmt::format("{:.0f}", range.sum)
                                     : fmt::format("{:.{}f} to {:.{}f} {}", range.least, row.digits,
                                                   range.most, row.digits, row.unit);
    std::string head = pad_right(row.name, kNameColumns) + pad_right(words, kRangeColumns);
    if (page_.width() < head.size() + 8) return head;
    auto columns =
        in_columns(values, std::min(page_.width() - head.size(), kMostColumns), row.fold);
    Axis axis{range.least, range.most};
    if (counts) {
      // A step without an event is an empty column, so that the others stand out.
      std::ranges::replace(columns, 0.0, kUnknownValue);
      axis = {0, range_of(columns)->most};
    } else if (axis.high - axis.low < std::abs(axis.high) * 0.02 + 0.05) {
      axis.low -= std::abs(axis.high) * 0.1 + 0.1;  // so that noise does not fill the full height
    }
    return head + sparkline(columns, axis, page_.style().ascii);
  }

  void timeline() {
    constexpr std::size_t kWordColumns = 13;
    const auto entries = timeline_of(timeline_, port_);
    title("Events");
    if (entries.empty()) page_.line("  none: no fault, repair or maintenance in this time");
    for (const TimelineEntry& entry : entries) {
      const std::string head = "  " + format_instant(entry.at) + "  ";
      page_.append(paragraph(
          head + paint_health(pad_right(entry.word, kWordColumns), entry.colour, page_.style()),
          head.size() + kWordColumns, page_.clean(entry.text), page_.width()));
    }
  }

  void identities() {
    if (timeline_.identities.empty()) return;
    title("Modules and cables");
    for (const KeptIdentity& module : timeline_.identities)
      page_.text(2, fmt::format("{:5}  {}  {} to {}", module.end,
                                join_parts({module.serial,
                                            join_parts({module.vendor, module.part_number}, " ")},
                                           "  "),
                                format_instant(module.first_seen_at).substr(0, 10),
                                format_instant(module.last_seen_at).substr(0, 10)));
  }

  const PortTimeline& timeline_;
  const PortReport& port_;
  TextPage page_;
  std::size_t columns_;
};

}  // namespace

std::string timeline_text(const PortTimeline& past, const PortReport& port,
                          const TextStyle& style) {
  return TimelineText(past, port, style).draw();
}

}  // namespace linkhealth
