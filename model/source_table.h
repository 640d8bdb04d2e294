// THE table of sources: what is read of a node and its ports, and how healthy each source is. The
// reader of a source owns its state; the sample carries it; one rule makes what a failing source
// gave unknown after a while.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// What it means that a source is read.
enum class SourceKind : std::uint8_t {
  kRead,    ///< again and again; its driver or device may not offer it
  kEvents,  ///< events are received as they come
  kFarEnd,  ///< read, of another system or program; can be switched off
};

/// Which thread reads a source, where that matters for others.
enum class SourceReader : std::uint8_t {
  kOther,
  kPort,         ///< the port's one reader, one source at a time: one that hangs stops the others
  kPortEthtool,  ///< the same, through ethtool netlink: nothing comes without SourceId::kEthtool
};

struct SourceInfo {
  SourceId id;
  std::string_view name;  ///< in gaps, metrics and recordings
  std::string_view what;  ///< in words
  bool of_node;           ///< not of each port
  SourceKind kind = SourceKind::kRead;
  bool in_sys = false;  ///< read from files below /sys: a copy of them has it too
  SourceReader reader = SourceReader::kOther;
  /// Of what it gave, so long after it was read: unknown, unless the source is ok. Of events 0.
  double stale_after_s = 0;
  std::string_view hint;                    ///< what makes it visible
  bool only_if_refused = false;             ///< the hint helps against a refusal only
  std::optional<CounterSource> counters{};  ///< it gives these counters of the table
  /// And these, in front of that, by how their names begin.
  std::array<std::string_view, 4> prefixes{};
};

std::span<const SourceInfo> source_table();
const SourceInfo& source_info(SourceId id);
/// The name.
std::string_view to_string(SourceId id);
std::optional<SourceId> find_source(std::string_view name);

/// The source of a counter of the table.
SourceId source_of(CounterId id);
/// Of a counter that the table does not know, by the prefix of its name (docs/recording.md);
/// without one it is a driver's, of hw_counters.
SourceId source_of_other(std::string_view counter_name);
bool has_counter_of(const Counters& counters, SourceId source);

enum class SourceState : std::uint8_t {
  kOk,
  kFailing,
  kHung,        ///< a read does not come back: nothing else of its reader is read either
  kNotOffered,  ///< by the driver or the device
};
std::string_view to_string(SourceState state);

/// What a reader knows of one source now.
struct SourceReport {
  SourceState state = SourceState::kOk;
  /// Why it is not ok; of kOk: what of it is missing ("symbol_error: EINVAL"). "" where another
  /// source is the cause: a read that hangs, or ethtool netlink that can't be used.
  std::string reason;
  bool operator==(const SourceReport&) const = default;
};
/// What is not listed is ok, with nothing missing, or was not read yet.
using SourceReports = std::map<SourceId, SourceReport>;
/// A read of the source could not get what `reason` says; `some_read`: the rest of it was read.
SourceReport problem_of(SourceId source, std::string reason, bool some_read);
/// Adds to what is reported of a source already: the reasons of both.
void add_report(SourceReports& reports, SourceId source, SourceReport report);

/// The same with its times.
struct SourceStatus {
  SourceState state = SourceState::kOk;
  std::string reason;
  SteadyTime since;                   ///< of this state
  std::optional<SteadyTime> last_ok;  ///< of the others: the last time that it was ok, if ever
  bool operator==(const SourceStatus&) const = default;
};
using SourceMap = std::map<SourceId, SourceStatus>;

/// "read", nothing missing.
inline bool is_ok(const SourceMap& sources, SourceId id) { return !sources.contains(id); }

/// Keeps since when sources are as they are reported.
class SourceTracker {
 public:
  /// What is reported now; what another source stops is added. Whether anything is other than
  /// before; true the first time.
  bool update(SourceReports reports, SteadyTime now);
  [[nodiscard]] const SourceMap& sources() const { return sources_; }

 private:
  SourceMap sources_;
  std::optional<SteadyTime> updated_at_;
};

/// The reason of a source that is listened to no more because its reading is over its time.
inline constexpr std::string_view kImportEnded = "the imported reading has ended";
/// The reason of a module that is not read because an operator works on its port.
inline constexpr std::string_view kModuleLeft = "not read during maintenance";

}  // namespace linkhealth
