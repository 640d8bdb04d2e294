#include "exporters/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "exporters/explain_repairs.h"
#include "exporters/json.h"
#include "exporters/plot.h"
#include "exporters/text_layout.h"
#include "model/history.h"

namespace linkhealth {

namespace {

constexpr std::size_t kLabelWidth = 7;
constexpr std::size_t kMaxColumns = 160;
constexpr std::size_t kNameWidth = 22;

/// Steps after which a value is no longer that of now: modules are read each 30 s, so in each third
/// step of 10 s.
constexpr std::size_t kRecent = 8;

struct Range {
  double least = 0, most = 0, sum = 0, last = 0;
  const char* when = "now";  ///< of `last`
};
std::optional<Range> range_of(const SignalSeries* series) {
  std::optional<Range> range;
  if (series == nullptr) return range;
  for (std::size_t i = 0; i < series->values.size(); ++i) {
    const double value = series->values[i];
    if (std::isnan(value)) continue;
    if (!range) range = Range{value, value, 0, value, ""};
    range->when = i + kRecent >= series->values.size() ? "now" : "last seen";
    range->least = std::min(range->least, value);
    range->most = std::max(range->most, value);
    range->sum += value;
    range->last = value;
  }
  return range;
}

/// The verdict where there is one; else the action: by whom, why, after how long.
std::string event_words(const FaultEvent& event) {
  const FaultReport& fault = event.fault;
  const std::string name = name_words(fault.fault);
  if (event.kind == FaultEventKind::kAcknowledged && fault.acknowledged) {
    const Acknowledgement& noted = *fault.acknowledged;
    return fmt::format("{}, by {} {}{}{}", name, noted.by,
                       noted.until ? "until " + instant_words(*noted.until) : "until it closes",
                       noted.reason.empty() ? "" : ": ", noted.reason);
  }
  if (event.kind == FaultEventKind::kProving)
    return name + ": its signs are gone, the repair proves itself";
  if (event.kind == FaultEventKind::kClosed && fault.opened_at < event.at)
    return fmt::format("{}, after {}", name, duration_words(event.at - fault.opened_at));
  return fmt::format("{} ({}, {}, {}): {}", name, to_string(fault.end), to_string(fault.severity),
                     confidence_words(fault.confidence), fault.summary);
}

/// What no light is kept as.
bool is_dark(double dbm) { return dbm <= kDarkDbm; }

class TimelineText {
 public:
  TimelineText(const PortTimeline& timeline, const PortReport& port, const TextStyle& style)
      : timeline_(timeline),
        port_(port),
        style_(style),
        width_(static_cast<std::size_t>(style.width_columns)),
        columns_(std::min(width_ - std::min(width_ - 20, kLabelWidth + 2), kMaxColumns)) {}

  std::string draw() {
    heading();
    if (timeline_.at.empty()) {
      line("Nothing was measured of it in this time.");
    } else {
      plot_power();
      plot_error_ratio();
      plot_temperature();
      sparklines();
    }
    timeline();
    identities();
    return std::move(out_);
  }

 private:
  void line(const std::string& text = "") {
    out_ += text;
    out_.resize(out_.find_last_not_of(' ') == std::string::npos ? 0
                                                                : out_.find_last_not_of(' ') + 1);
    out_ += "\n";
  }
  [[nodiscard]] std::string clean(std::string_view text) const {
    return clean_text(text, style_.ascii);
  }
  [[nodiscard]] std::string fitted(const std::string& text) const {
    return cut(clean(text), width_, style_.ascii);
  }

  void heading() {
    std::string name = port_.port;
    if (!port_.latest.id.netdev.empty() && port_.latest.id.netdev != port_.port)
      name += "  " + port_.latest.id.netdev;
    if (!port_.peer.empty()) name += "  to " + port_.peer;
    line(paint_bold(fitted(name), style_));
    line(fitted(fmt::format("{} to {}, in steps of {}", instant_words(timeline_.from),
                            instant_words(timeline_.to),
                            duration_words(std::chrono::seconds(timeline_.step_s)))));
  }

  void draw_plot(const std::string& title, const std::vector<double>& values, PlotFold fold,
                 const Plot& plot) {
    line();
    for (const std::string& row : wrap(clean(title), width_)) line(paint_bold(row, style_));
    for (const std::string& row : plot_lines(in_columns(values, columns_, fold), plot, kLabelWidth))
      line(row);
    line(std::string(kLabelWidth + 2, ' ') + time_axis(timeline_.from, timeline_.to, columns_));
  }

  /// At least 3 dB, whole numbers at its ends. Darkness is no power: it would flatten all that can
  /// be read.
  void plot_power() {
    const SignalSeries* series = timeline_.find(Signal::kRxPower);
    const auto all = range_of(series);
    if (!all) return;
    SignalSeries lit = *series;
    std::replace_if(lit.values.begin(), lit.values.end(), is_dark, kUnknownValue);
    const auto range = range_of(&lit);
    if (!range) {
      line();
      return line(paint_bold(fitted("Rx power: no light in all that time"), style_));
    }
    std::string dark;
    if (is_dark(all->least)) dark = is_dark(all->last) ? ", now no light" : ", at times no light";
    Plot plot;
    plot.ascii = style_.ascii;
    plot.axis = {std::floor(range->least) - 1, std::ceil(range->most)};
    if (plot.axis.high - plot.axis.low < 3) plot.axis.high = plot.axis.low + 3;
    plot.label = [](double value) { return fmt::format("{:.1f}", value); };
    draw_plot(fmt::format("Rx power, dBm (the lane that receives least): {} {:.1f}, least {:.1f}, "
                          "most {:.1f}{}{}",
                          is_dark(all->last) ? "before" : range->when, range->last, range->least,
                          range->most, dark, alarm_words()),
              lit.values, PlotFold::kLeast, plot);
  }

  [[nodiscard]] std::string alarm_words() const {
    const auto& module = port_.latest.module;
    const auto alarm = module ? module->thresholds.rx_power_mw.low_alarm : std::nullopt;
    const auto dbm = alarm ? dbm_from_mw(*alarm) : std::nullopt;
    return dbm ? fmt::format("; the module's low alarm: {:.1f}", *dbm) : "";
  }

  /// In decades. No error at all stands at the lower end.
  void plot_error_ratio() {
    const SignalSeries* series = timeline_.find(Signal::kPreFecBer);
    if (series == nullptr) return;
    std::vector<double> decades;
    double least = 0, most = -30;
    for (const double value : series->values) {
      decades.push_back(value > 0 ? std::log10(value) : value == 0 ? -30 : kUnknownValue);
      if (!(value > 0)) continue;
      least = std::min(least, decades.back());
      most = std::max(most, decades.back());
    }
    if (most < least) return note_no_errors(*series);
    Plot plot;
    plot.ascii = style_.ascii;
    plot.height = 6;
    plot.axis = {std::floor(least) - 1, std::ceil(most)};
    // The label in the middle is a whole decade too.
    const double decades_shown = std::max(4.0, 2 * std::ceil((plot.axis.high - plot.axis.low) / 2));
    plot.axis.low = plot.axis.high - decades_shown;
    plot.label = [](double value) { return fmt::format("{:.0e}", std::pow(10, value)); };
    const auto range = range_of(series);
    const std::string limit =
        port_.figures.pre_fec_ber_limit
            ? fmt::format("; FEC is made for {:.1e}", *port_.figures.pre_fec_ber_limit)
            : "";
    draw_plot(fmt::format("Pre-FEC BER: {} {}, most {}{}", range->when, ber_words(range->last),
                          ber_words(range->most), limit),
              decades, PlotFold::kMost, plot);
  }

  void note_no_errors(const SignalSeries& series) {
    if (!range_of(&series)) return;
    line();
    line(paint_bold("Pre-FEC BER: no bit was corrected in this time", style_));
  }

  void plot_temperature() {
    const SignalSeries* series = timeline_.find(Signal::kTemperature);
    const auto range = range_of(series);
    if (!range) return;
    Plot plot;
    plot.ascii = style_.ascii;
    plot.height = 4;
    plot.axis = {std::floor(range->least / 5) * 5 - 5, std::ceil(range->most / 5) * 5};
    plot.axis.low =
        plot.axis.high - 10 * std::max(1.0, std::ceil((plot.axis.high - plot.axis.low) / 10));
    plot.label = [](double value) { return fmt::format("{:.0f}", value); };
    const auto& module = port_.latest.module;
    const std::string limit = module && module->thresholds.temperature_c.high_alarm
                                  ? fmt::format("; the module's high alarm: {:.0f}",
                                                *module->thresholds.temperature_c.high_alarm)
                                  : "";
    draw_plot(fmt::format("Module temperature, C: {} {:.1f}, least {:.1f}, most {:.1f}{}",
                          range->when, range->last, range->least, range->most, limit),
              series->values, PlotFold::kMost, plot);
  }

  struct Spark {
    Signal signal;
    std::string_view name, unit;
    bool counts;
    PlotFold fold;
  };

  /// What was counted (only where it happened), and the quieter measures, one line each.
  void sparklines() {
    static constexpr std::array<Spark, 16> kSparks{
        {{Signal::kCarrierDowns, "carrier losses", "", true, PlotFold::kSum},
         {Signal::kVoluntaryDowns, "set down by somebody", "", true, PlotFold::kSum},
         {Signal::kUncorrectableBlocks, "uncorrectable blocks", "", true, PlotFold::kSum},
         {Signal::kSymbolErrors, "symbol errors", "", true, PlotFold::kSum},
         {Signal::kFrameErrors, "frame errors", "", true, PlotFold::kSum},
         {Signal::kLinkRecoveries, "link recoveries", "", true, PlotFold::kSum},
         {Signal::kForwardedErrors, "forwarded errors", "", true, PlotFold::kSum},
         {Signal::kRetries, "retries", "", true, PlotFold::kSum},
         {Signal::kHostDrops, "dropped by this host", "", true, PlotFold::kSum},
         {Signal::kPcieErrors, "PCIe errors", "", true, PlotFold::kSum},
         {Signal::kTxPower, "Tx power", "dBm", false, PlotFold::kLeast},
         {Signal::kTxBias, "laser bias", "mA", false, PlotFold::kMost},
         {Signal::kFarRxPower, "far Rx power", "dBm", false, PlotFold::kLeast},
         {Signal::kFarTxPower, "far Tx power", "dBm", false, PlotFold::kLeast},
         {Signal::kSupply, "supply", "V", false, PlotFold::kLeast},
         {Signal::kRxTraffic, "traffic in", "Mb/s", false, PlotFold::kMost}}};
    std::string none;
    bool first = true;
    for (const Spark& spark : kSparks) {
      const SignalSeries* series = timeline_.find(spark.signal);
      const auto range = range_of(series);
      if (!range) continue;
      if (spark.counts && range->sum == 0) {
        none += (none.empty() ? "" : ", ") + std::string(spark.name);
        continue;
      }
      if (std::exchange(first, false)) line();
      line(spark_line(spark, *series, *range));
    }
    if (none.empty()) return;
    line();
    bool begun = false;
    for (const std::string& row : wrap("Not once: " + none, width_ - 2))
      line((std::exchange(begun, true) ? "  " : "") + row);
  }

  [[nodiscard]] std::string spark_line(const Spark& spark, const SignalSeries& series,
                                       const Range& range) const {
    std::string words;
    if (spark.counts) {
      words = fmt::format("{:.0f}", range.sum);
    } else {
      const char* unit = spark.unit.data();
      const int digits = spark.unit == "V" ? 2 : spark.unit == "Mb/s" ? 0 : 1;
      words = fmt::format("{:.{}f} to {:.{}f} {}", range.least, digits, range.most, digits, unit);
    }
    constexpr std::size_t kWordsWidth = 24;
    const std::size_t columns =
        width_ > kNameWidth + kWordsWidth + 8 ? width_ - kNameWidth - kWordsWidth - 1 : 0;
    if (columns == 0) return fitted(pad_right(std::string(spark.name), kNameWidth) + words);
    const auto folded = in_columns(series.values, std::min(columns, kMaxColumns), spark.fold);
    Axis axis{range.least, range.most};
    if (spark.counts) {
      axis = {0, 1};
      for (const double value : folded)
        axis.high = std::max(axis.high, std::isnan(value) ? 0 : value);
    } else if (axis.high - axis.low < std::abs(axis.high) * 0.02 + 0.05) {
      axis.low -= std::abs(axis.high) * 0.1 + 0.1;  // what does not move is no mountain
    }
    std::vector<double> drawn = folded;
    // Nothing counted is an empty column: the few that are not stand out.
    if (spark.counts) std::replace(drawn.begin(), drawn.end(), 0.0, kUnknownValue);
    return pad_right(std::string(spark.name), kNameWidth) + pad_right(words, kWordsWidth) +
           sparkline(drawn, axis, style_.ascii);
  }

  struct Entry {
    WallTime at;
    std::string word, text;
    Health paint = Health::kUnknown;
  };

  static Health paint_of(const FaultEvent& event) {
    if (event.kind == FaultEventKind::kClosed) return Health::kHealthy;
    if (event.kind == FaultEventKind::kAcknowledged || event.kind == FaultEventKind::kProving)
      return Health::kAtRisk;
    return event.fault.severity == Severity::kCritical ? Health::kDown : Health::kDegraded;
  }

  /// Those that began before this time, or after it: the clock may have been put back.
  void add_open_faults(std::vector<Entry>& entries) const {
    for (const FaultReport& fault : port_.faults) {
      const auto begins = [&fault](const FaultEvent& event) {
        return event.fault.id == fault.id && event.kind == FaultEventKind::kOpened;
      };
      if (std::ranges::none_of(timeline_.events, begins))
        entries.push_back({fault.opened_at, "open",
                           name_words(fault.fault) + ", since then: " + fault.summary,
                           Health::kDegraded});
    }
  }

  void timeline() {
    std::vector<Entry> entries;
    for (const FaultEvent& event : timeline_.events)
      entries.push_back(
          {event.at, std::string(to_string(event.kind)), event_words(event), paint_of(event)});
    add_open_faults(entries);
    for (const RepairRecord& repair : timeline_.repairs)
      entries.push_back({repair.at, "repair", repair_words(repair), Health::kExempt});
    for (const Maintenance& work : timeline_.maintenance) {
      entries.push_back(
          {work.since, "maintenance", maintenance_begun_words(work), Health::kExempt});
      if (work.ended_at)
        entries.push_back(
            {*work.ended_at, "maintenance",
             fmt::format("ended, after {}", duration_words(*work.ended_at - work.since)),
             Health::kExempt});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.at < b.at; });
    line();
    line(paint_bold("What happened", style_));
    if (entries.empty())
      line("  nothing: no fault was seen and nobody was at the link in this time");
    for (const Entry& entry : entries) {
      const std::string head = instant_words(entry.at) + "  ";
      const std::string word = pad_right(entry.word, 13);
      const std::size_t indent = 2 + head.size() + 13;
      const auto rows = wrap(clean(entry.text), width_ > indent + 20 ? width_ - indent : 20);
      line("  " + head + paint_health(word, entry.paint, style_) + (rows.empty() ? "" : rows[0]));
      for (std::size_t i = 1; i < rows.size(); ++i) line(std::string(indent, ' ') + rows[i]);
    }
  }

  void identities() {
    if (timeline_.identities.empty()) return;
    line();
    line(paint_bold("Modules and cables that were here", style_));
    for (const KeptIdentity& module : timeline_.identities) {
      const std::string part =
          module.vendor + (module.vendor.empty() ? "" : " ") + module.part_number;
      line(fitted(fmt::format("  {:5}  {}  {}{}{} to {}", module.end, module.serial, part,
                              part.empty() ? "" : "  ",
                              instant_words(module.first_seen_at).substr(0, 10),
                              instant_words(module.last_seen_at).substr(0, 10))));
    }
  }

  const PortTimeline& timeline_;
  const PortReport& port_;
  const TextStyle& style_;
  std::size_t width_, columns_;
  std::string out_;
};

}  // namespace

std::string timeline_text(const PortTimeline& timeline, const PortReport& port,
                          const TextStyle& style) {
  return TimelineText(timeline, port, style).draw();
}

}  // namespace linkhealth
