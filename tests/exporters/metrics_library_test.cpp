// Our text against that of prometheus-cpp, the client library: the same bytes for the same series,
// whatever the labels and values are.
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "base/text.h"
#include "exporters/metrics_writer.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

/// The series as the library's own families.
class LibrarySink : public SeriesSink {
 public:
  LibrarySink() {
    for (const MetricInfo& info : metric_table()) {
      prometheus::MetricFamily& family = families_.emplace_back();
      family.name = info.name;
      family.help = info.help;
      family.type = info.type == MetricType::kCounter ? prometheus::MetricType::Counter
                                                      : prometheus::MetricType::Gauge;
    }
  }

  void add(std::size_t row, std::span<const std::string_view> labels, double value) override {
    const MetricInfo& info = metric_table()[row];
    prometheus::ClientMetric metric;
    std::size_t next = 0;
    if (!info.labels.empty())
      for (const std::string_view name : split(info.labels, ','))
        metric.label.push_back({std::string(name), valid_utf8(labels[next++])});
    EXPECT_EQ(next, labels.size()) << info.name;
    (info.type == MetricType::kCounter ? metric.counter.value : metric.gauge.value) = value;
    families_[row].metric.push_back(std::move(metric));
  }

  std::string text() {
    for (prometheus::MetricFamily& family : families_) {
      std::set<std::vector<prometheus::ClientMetric::Label>> seen;
      std::erase_if(family.metric, [&](const prometheus::ClientMetric& metric) {
        return !seen.insert(metric.label).second;
      });
    }
    std::erase_if(families_,
                  [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  static std::string valid_utf8(std::string_view text) {
    const bool ascii = std::all_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<signed char>(c) >= 0; });
    return ascii ? std::string(text) : printable(text);
  }
  std::vector<prometheus::MetricFamily> families_;
};

class Random {
 public:
  explicit Random(unsigned seed) : rng_(seed) {}
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(rng_);
  }
  bool chance(unsigned one_in) { return below(one_in) == 0; }

  std::string text() {
    constexpr auto kOdd =
        std::to_array<std::string_view>({"\"", "\\", "\n", "\\n", "\"}", "} 1", "{", ",", "=", "\r",
                                         "\t", "\xff", "é", "漢", std::string_view("\0", 1), " "});
    std::string text;
    for (std::size_t i = below(6); i > 0; --i)
      text += chance(2) ? std::string(kOdd.at(below(kOdd.size())))
                        : std::string(1, static_cast<char>('a' + below(4)));
    return text;
  }
  double value() {
    constexpr double kMax = std::numeric_limits<double>::max();
    constexpr auto kOdd = std::to_array<double>({0,
                                                 -0.0,
                                                 1,
                                                 -1,
                                                 0.1,
                                                 1e15,
                                                 1e15 - 1,
                                                 1e15 + 1,
                                                 -1e15,
                                                 1e16,
                                                 1.2345678901234568e17,
                                                 9007199254740992.0,
                                                 kMax,
                                                 -kMax,
                                                 std::numeric_limits<double>::denorm_min(),
                                                 1e-5,
                                                 1e-4,
                                                 100000,
                                                 1000000,
                                                 0.30000000000000004,
                                                 std::numeric_limits<double>::infinity(),
                                                 -std::numeric_limits<double>::infinity(),
                                                 std::numeric_limits<double>::quiet_NaN()});
    if (chance(3)) return kOdd.at(below(kOdd.size()));
    const double size = std::pow(10, std::uniform_real_distribution<>(-20, 25)(rng_));
    return chance(3) ? std::trunc(size) : chance(2) ? size : -size;
  }

 private:
  std::mt19937 rng_;
};

TEST(MetricsLibrary, AnyLabelsAndValuesGiveTheSameBytes) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    MetricsWriter ours;
    LibrarySink theirs;
    for (std::size_t i = random.below(200); i > 0; --i) {
      const std::size_t row = random.below(metric_table().size());
      const std::string_view names = metric_table()[row].labels;
      std::vector<std::string> labels(names.empty() ? 0 : split(names, ',').size());
      for (std::string& label : labels) label = random.text();
      const double value = random.value();
      for (std::size_t times = random.chance(5) ? 2 : 1; times > 0; --times) {
        const std::vector<std::string_view> views(labels.begin(), labels.end());
        ours.add(row, views, value + static_cast<double>(times));
        theirs.add(row, views, value + static_cast<double>(times));
      }
    }
    ASSERT_EQ(ours.take(), theirs.text()) << "seed " << seed;
  }
}

/// What is scraped again and again: mostly the same series in the same order.
class Scrapes {
 public:
  explicit Scrapes(unsigned seed) : random_(seed) {
    for (int i = 0; i < 40; ++i) insert();
  }
  void change() {
    for (Series& series : all_)
      if (random_.chance(2))
        series.value = random_.chance(4) ? random_.value() : static_cast<double>(random_.below(20));
    if (random_.chance(3))
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(random_.below(all_.size() - 1)));
    if (random_.chance(3)) insert();
    if (random_.chance(5)) all_.insert(place(), all_.at(random_.below(all_.size())));
    if (random_.chance(5)) std::swap(all_.at(random_.below(all_.size())), all_.back());
  }
  void put(SeriesSink& sink) const {
    for (const Series& series : all_) {
      const std::vector<std::string_view> views(series.labels.begin(), series.labels.end());
      sink.add(series.row, views, series.value);
    }
  }

 private:
  struct Series {
    std::size_t row = 0;
    std::vector<std::string> labels;
    double value = 0;
  };
  std::vector<Series>::iterator place() {
    return all_.begin() + static_cast<std::ptrdiff_t>(random_.below(all_.size() + 1));
  }
  void insert() {
    Series series{random_.below(4), {}, random_.value()};
    const std::string_view names = metric_table()[series.row].labels;
    series.labels.resize(names.empty() ? 0 : split(names, ',').size());
    // Few labels are odd: a metric that had one is written anew each time.
    for (std::string& label : series.labels)
      label = random_.chance(200)
                  ? random_.text()
                  : std::string(1 + random_.below(3), static_cast<char>('a' + random_.below(3)));
    all_.insert(place(), std::move(series));
  }

  Random random_;
  std::vector<Series> all_;
};

TEST(MetricsLibrary, AWriterThatIsKeptWritesWhatTheLibraryWrites) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Scrapes scrapes(seed);
    MetricsWriter kept;
    for (int scrape = 0; scrape < 40; ++scrape) {
      LibrarySink library;
      scrapes.put(library);
      scrapes.put(kept);
      ASSERT_EQ(kept.take(), library.text()) << "seed " << seed << ", scrape " << scrape;
      scrapes.change();
    }
  }
}

/// A label that reads like what another one is written as.
TEST(MetricsLibrary, AWriterThatIsKeptConfusesNoEscape) {
  const auto row = static_cast<std::size_t>(
      std::find_if(metric_table().begin(), metric_table().end(),
                   [](const MetricInfo& info) {
                     return !info.labels.empty() && info.labels.find(',') == std::string_view::npos;
                   }) -
      metric_table().begin());
  ASSERT_LT(row, metric_table().size());
  const std::string line = "a\"} 5\n" + std::string(metric_table()[row].name) + "{" +
                           std::string(metric_table()[row].labels) + "=\"b";
  MetricsWriter kept;
  for (const std::vector<std::string>& labels :
       std::vector<std::vector<std::string>>{{"a", "b"},
                                             {line},
                                             {"a", "b"},
                                             {"x\n"},
                                             {"x\\n"},
                                             {"x\n"},
                                             {"\xff"},
                                             {printable("\xff")},
                                             {"\xff"},
                                             {"a", "b"}}) {
    LibrarySink library;
    for (const std::string& label : labels) {
      library.add(row, std::vector<std::string_view>{label}, 5);
      kept.add(row, std::vector<std::string_view>{label}, 5);
    }
    ASSERT_EQ(kept.take(), library.text());
  }
}

TEST(MetricsLibrary, ValuesAreWrittenAsTheLibraryWritesThem) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double value = random.value();
    MetricsWriter ours;
    LibrarySink theirs;
    ours.add(1, {}, value);
    theirs.add(1, {}, value);
    ASSERT_EQ(ours.take(), theirs.text()) << value;
  }
}

void disturb(Report& report, Random& random) {
  for (PortReport& port : report.ports) {
    if (random.chance(2)) port.port = port.latest.id.device = random.text();
    if (port.latest.module) {
      port.latest.module->vendor = random.text();
      port.latest.module->temperature_c = random.value();
      for (ModuleLane& lane : port.latest.module->lanes) lane.rx_power_mw = random.value();
    }
    if (!port.latest.counters) port.latest.counters.emplace();
    for (std::size_t i = random.below(9); i > 0; --i)
      port.latest.counters->set(random.text(), random.below(SIZE_MAX));
    for (FaultReport& fault : port.faults) fault.confidence = random.value();
    port.gaps.push_back({port.port, random.text(), random.text()});
  }
  report.gaps.push_back({"", random.text(), random.text()});
  report.timings.push_back({random.text(), random.value()});
}

TEST(MetricsLibrary, WholeReportsGiveTheSameBytes) {
  FaultEventCounts events;
  events.add(test::example_event(FaultEventKind::kOpened));
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Report report = test::example_report();
    report.ports.push_back(test::down_port());
    report.ports.push_back(test::blind_port());
    report.ports.push_back(test::measured_port());
    if (seed > 0) disturb(report, random);
    const MonitorFigures monitor{random.text(), random.value()};
    for (const MetricGroups groups :
         {MetricGroups{false, false}, {true, false}, {false, true}, {true, true}}) {
      LibrarySink library;
      collect_metrics(report, events, monitor, groups, library);
      ASSERT_EQ(metrics_text(report, events, monitor, groups), library.text()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace linkhealth
