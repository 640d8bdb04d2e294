// THE table of sources: what is read from a node and its ports, and the state of each source. The
// reader of a source owns its state; the sample carries it. What a failing source gave becomes
// unknown after its `stale_after_s`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/time.h"
#include "model/counters.h"

namespace linkhealth {

/// In the order of the table.
enum class SourceId : std::uint8_t {
  // of the node
  kInventory,
  kPciBus,
  kLinkEvents,
  kDeviceEvents,
  kKernelLog,
  // of each port; kImport also of the node
  kImport,
  kLink,
  kRdmaDevice,
  kCounters,
  kHwCounters,
  kVerbsEvents,
  kNetdevStats,
  kEthtool,
  kLinkModes,
  kDownReason,
  kFec,
  kEthtoolStats,
  kPause,
  kDriverStats,
  kModule,
  kPcie,
  kHwmon,
  kDevlink,
  kPeerMad,
  kPeerLldp,
};
inline constexpr std::size_t kSourceCount = 25;

enum class SourceKind : std::uint8_t {
  kRead,    ///< polled; the driver or device may not offer it
  kEvents,  ///< events are received as they occur
  kFarEnd,  ///< read from another system or program; can be switched off
};

/// Which thread reads a source, where that matters for other sources.
enum class SourceReader : std::uint8_t {
  kOther,
  kPort,         ///< the port's only reader thread: a hung read stops its other sources
  kPortEthtool,  ///< the same, through ethtool netlink: needs SourceId::kEthtool
};

/// A value becomes unknown this long after it was read, unless its source is ok: 30 counter
/// periods, as for a far end's reading (peers.hold_s).
inline constexpr double kStaleAfterS = 300;

struct SourceInfo {
  SourceId id;
  std::string_view name;  ///< used in gaps, metrics and recordings
  std::string_view what;  ///< in words
  bool of_node;           ///< not per port
  SourceKind kind;
  bool in_sys;  ///< read from files below /sys, so that it is also in a copy of /sys
  SourceReader reader;
  std::string_view hint;                    ///< how to make it readable
  bool only_if_refused = false;             ///< the hint helps only if access was refused
  std::optional<CounterSource> counters{};  ///< it reads these counters of the table
  double stale_after_s = kStaleAfterS;
};

std::span<const SourceInfo> source_table();
const SourceInfo& source_info(SourceId id);
std::string_view to_string(SourceId id);
std::optional<SourceId> find_source(std::string_view name);

/// The source of a counter of the table.
SourceId source_of(CounterId id);
/// The source of a counter that the table does not know, by the prefix of its name
/// (docs/recording.md); without a prefix it is a driver's counter from hw_counters.
SourceId source_of_other(std::string_view counter_name);
bool has_counter_of(const Counters& counters, SourceId source);

enum class SourceState : std::uint8_t {
  kOk,
  kFailing,
  kHung,        ///< a read hangs: its reader thread is blocked
  kNotOffered,  ///< by the driver or the device
};
constexpr auto enum_names(SourceState) {
  return std::to_array<std::string_view>({"ok", "failing", "hung", "not_offered"});
}

/// What a reader reports of one source.
struct SourceReport {
  SourceState state = SourceState::kOk;
  /// Why it is not ok; if kOk, what is missing ("symbol_error: EINVAL"). "" if another source is
  /// the cause: a hung read, or no ethtool netlink.
  std::string reason;
  bool operator==(const SourceReport&) const = default;
};
/// A source that is not listed is ok with nothing missing, or was not read yet.
using SourceReports = std::map<SourceId, SourceReport>;
/// The report of a read that failed because of `reason`; `some_read`: it failed only in part.
SourceReport problem_of(SourceId source, std::string reason, bool some_read);
/// Adds a report; if the source already has one, both reasons are kept.
void add_report(SourceReports& reports, SourceId source, SourceReport report);

/// A report with its times.
struct SourceStatus {
  SourceState state = SourceState::kOk;
  std::string reason;
  SteadyTime since;                   ///< of this state
  std::optional<SteadyTime> last_ok;  ///< if ever; only for a state that is not ok
  bool operator==(const SourceStatus&) const = default;
};
using SourceMap = std::map<SourceId, SourceStatus>;

/// Ok with nothing missing.
inline bool is_ok(const SourceMap& sources, SourceId id) { return !sources.contains(id); }

/// Adds the times to reports.
class SourceTracker {
 public:
  /// Replaces the reports; sources stopped by another one are added. Returns whether anything
  /// changed; true the first time.
  bool update(SourceReports reports, SteadyTime now);
  [[nodiscard]] const SourceMap& sources() const { return sources_; }

 private:
  SourceMap sources_;
  std::optional<SteadyTime> updated_at_;
};

/// The reason of an import whose reading has expired.
inline constexpr std::string_view kImportEnded = "the imported reading has ended";
/// The reason of a module that is not read because its port is in maintenance.
inline constexpr std::string_view kModuleLeft = "not read during maintenance";

}  // namespace linkhealth
