// The current report as Prometheus metrics. Each rendering collects all families from the report,
// so that a series exists exactly as long as what it describes. An unknown value has no series.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/doctor.h"
#include "model/report.h"
#include "model/setting_table.h"

namespace linkhealth {

/// Counts fault events and repairs since the monitor started. There is no row for what never
/// happened: 21 faults of 8 ports would be a thousand series of zeros. A new row is exported as 0
/// for kZero_s first, so that increase() sees the first event if the scrape interval is no longer
/// than that.
class FaultEventCounts {
 public:
  static constexpr double kZero_s = 60;
  /// Maximum number of rows by port; further ones are counted under an empty port.
  static constexpr std::size_t kMaxPortRows = 240;

  struct EventKey {
    PortKey port;
    std::string fault;
    FaultEventKind kind = FaultEventKind::kOpened;
    auto operator<=>(const EventKey&) const = default;
  };
  struct RepairKey {
    RepairAction action = RepairAction::kPortBounced;
    RepairOutcome outcome = RepairOutcome::kPending;
    auto operator<=>(const RepairKey&) const = default;
  };
  struct Row {
    std::uint64_t count = 0;
    SteadyTime zero_until;
    [[nodiscard]] double shown(SteadyTime now) const {
      return now < zero_until ? 0.0 : static_cast<double>(count);
    }
  };

  void add(const FaultEvent& event);
  [[nodiscard]] const std::map<EventKey, Row>& events() const { return events_; }
  /// From closed faults: the last repair held, the earlier ones failed.
  [[nodiscard]] const std::map<RepairKey, Row>& repairs() const { return repairs_; }

 private:
  std::map<EventKey, Row> events_;
  std::map<RepairKey, Row> repairs_;
  /// Number of counted repairs by fault id: a fault may reopen and close again.
  std::map<std::string, std::size_t> counted_repairs_;
};

/// The state database on disk.
struct StoreHealth {
  bool working = true;  ///< the last write succeeded
  std::uint64_t writes = 0, failures = 0;
  /// Not written because the disk was too slow.
  std::uint64_t dropped_rows = 0, dropped_events = 0;
  std::uint64_t trimmed_events = 0;  ///< deleted because the database was full
  std::int64_t bytes = 0;            ///< of the database
};

/// Groups with many series. A scrape requests them (/metrics?collect[]=counters&collect[]=optics),
/// or the configuration adds them to every scrape.
struct MetricGroups {
  bool counters = false;
  bool optics = false;
};
/// Section "metrics" of the configuration.
std::span<const SettingGroup> metric_setting_groups();
MetricGroups metric_groups(const SettingTable& table);

/// The monitor's own state.
struct MonitorFigures {
  std::string version;
  std::optional<double> loop_lateness_s{};  ///< delay of the last cycle
  std::optional<WallTime> started_at{};
  std::optional<StoreHealth> store{};     ///< nullopt: there is none
  MetricGroups always{};                  ///< from the configuration
  std::map<PortKey, SightCount> sight{};  ///< of the ports that are monitored
};

enum class MetricType : std::uint8_t { kGauge, kCounter };

/// One row of the metric table, from which docs/metrics.md is generated.
struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::string_view labels;  ///< separated by commas
  std::string_view unit;    ///< "" for a state or a count
  std::string_view group;   ///< "" for the default set, "counters", "optics"
  std::string_view help;
};

/// docs/metrics.md.
std::string metrics_reference();

/// Every series of the report as Prometheus text, format 0.0.4.
std::string metrics_text(const Report& report, const FaultEventCounts& events,
                         const MonitorFigures& monitor, MetricGroups groups);

}  // namespace linkhealth
