#include "probes/peer/import_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

#include "base/text.h"
#include "model/json/sample_fields.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxLanes = 32;  // of a module with four banks (CMIS 8.1)

/// Wider than anything that works, narrower than the result of a wrong unit.
struct Range {
  std::string_view ending;  ///< of the key
  double low, high;
};
/// The first row with a matching ending applies.
constexpr auto kRanges = std::to_array<Range>({{"temperature_c", -100, 200},
                                               {"_v", 0, 20},
                                               {"power_mw", 0, 1000},
                                               {"bias_ma", 0, 2000},
                                               {"_dbm", -100, 60},
                                               {"_db", -20, 256},
                                               {"_ber", 0, 1},
                                               {"_ber_by_lane", 0, 1},
                                               {"speed_mbps", 0, 100e6},
                                               {"lanes", 0, 64},
                                               {"_m", 0, 1e7}});
/// No number of CMIS or verbs is larger.
constexpr double kLargest = 1e20;

/// The values allowed by docs/schema. Those of a port are the kernel's
/// (drivers/infiniband/core/sysfs.c).
using Words = std::span<const std::string_view>;
constexpr std::string_view kStateWords[] = {"",      "NOP",    "DOWN",        "INIT",
                                            "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr std::string_view kPhysStateWords[] = {"",
                                                "Sleep",
                                                "Polling",
                                                "Disabled",
                                                "PortConfigurationTraining",
                                                "LinkUp",
                                                "LinkErrorRecovery",
                                                "Phy Test"};
constexpr std::string_view kKindWords[] = {"optical", "aoc", "dac", "acc", "unknown"};

/// Parts of a quantity: the quantity's own key tells what is measured.
bool is_part(std::string_view name) {
  constexpr auto kParts =
      std::to_array<std::string_view>({"min", "max", "avg", "current", "total", "low_alarm",
                                       "low_warn", "high_warn", "high_alarm", "limits"});
  return std::ranges::find(kParts, name) != kParts.end();
}

/// Visits every field of a sample, and keeps the first complaint.
class Check {
 public:
  explicit Check(std::string& complaint, std::string_view key = "")
      : complaint_(complaint), key_(key) {}

  template <typename T>
  void operator()(std::string_view name, const T& field) {
    Check(complaint_, is_part(name) ? key_ : name).value(field);
  }
  template <typename T>
  void always(std::string_view name, const T& field) {
    (*this)(name, field);
  }

  void value(bool /*yes*/) {}
  void value(WallTime /*at*/) {}
  void value(std::uint32_t number) { value(static_cast<double>(number)); }
  void value(double number) {
    const auto* const range = std::ranges::find_if(
        kRanges, [this](const Range& row) { return key_.ends_with(row.ending); });
    const Range allowed = range == kRanges.end() ? Range{"", -kLargest, kLargest} : *range;
    if (!(number >= allowed.low && number <= allowed.high))
      complain(fmt::format("{} of {:g} is out of range", key_, number));
  }
  /// All ones mean a register that does not answer; a saturated counter ends at its own width.
  void value(std::uint64_t count) {
    if (count == std::numeric_limits<std::uint64_t>::max())
      complain(fmt::format("{} of all ones: no answer of the device", key_));
  }
  void value(const std::string& text) {
    if (printable(text) != text) complain(fmt::format("{} is not plain text", key_));
  }
  void value(const Counters& counters) {
    for (const auto& [id, number] : counters.known())
      Check(complaint_, known_counters()[id].name).value(number);
    for (const auto& [name, number] : counters.other()) {
      Check(complaint_, "counter name").value(name);
      Check(complaint_, "counter").value(number);  // the complaint becomes a metric's label
    }
  }
  template <typename T>
  void value(const std::optional<T>& field) {
    if (field) value(*field);
  }
  template <typename List>
  requires requires(const List& list) { list.begin(), list.size(); }
  void value(const List& list) {
    for (const auto& item : list) value(item);
  }
  template <typename T>
  void value(const T& group) {
    fields(group, *this);
  }

  void word(std::string_view what, std::string_view word, Words words) {
    if (std::ranges::find(words, word) == words.end())
      complain(fmt::format("{} is none of the schema's words", what));
  }
  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

 private:
  std::string& complaint_;
  std::string_view key_;
};

void check_module(Check& check, const ModuleSample& module) {
  check.value(module);
  check.word("module kind", module.kind, kKindWords);
  if (module.lanes.size() > kMaxLanes)
    check.complain(fmt::format("a module with {} lanes", module.lanes.size()));
}

void check_peer(Check& check, const PeerSample& peer) {
  check.value(peer);
  if (peer.source != "telemetry" && peer.source != "fleet")
    check.complain("peer source is neither telemetry nor fleet");
  if (peer.age_s && !(*peer.age_s >= 0 && *peer.age_s <= kMaxImportValidSeconds))
    check.complain("peer age_s is not between 0 and a day");
  if (peer.module_age_s || peer.link_age_s || peer.counters_age_s || !peer.module_source.empty() ||
      !peer.link_source.empty() || !peer.counters_source.empty())
    check.complain("a part of peer has its own source or age");
  if (peer.module) check_module(check, *peer.module);
  if (!peer.link) return;
  check.word("port state", peer.link->state, kStateWords);
  check.word("physical port state", peer.link->phys_state, kPhysStateWords);
}

bool are_zero(const Limits& limits) {
  const auto is_zero = [](const std::optional<double>& limit) { return limit.value_or(0) == 0; };
  return (limits.high_warn || limits.high_alarm) && is_zero(limits.low_alarm) &&
         is_zero(limits.low_warn) && is_zero(limits.high_warn) && is_zero(limits.high_alarm);
}

bool are_in_order(const Limits& limits) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double low_alarm = limits.low_alarm.value_or(-kNone);
  const double low_warn = limits.low_warn.value_or(low_alarm);
  const double high_alarm = limits.high_alarm.value_or(kNone);
  const double high_warn = limits.high_warn.value_or(high_alarm);
  return low_alarm <= low_warn && low_warn < high_warn && high_warn <= high_alarm;
}

}  // namespace

std::string find_implausible(const ImportedPort& port) {
  std::string complaint;
  Check check(complaint);
  if (port.peer) check_peer(check, *port.peer);
  if (port.module) check_module(check, *port.module);
  return complaint;
}

void drop_bad_limits(ModuleSample& module) {
  const auto is_bad = [&module](std::string_view name, const Limits& limits) {
    if (limits.empty() || (!are_zero(limits) && are_in_order(limits))) return false;
    module.warnings.push_back(fmt::format("limits of {} are {}: not used", name,
                                          are_zero(limits) ? "all zero" : "not in order"));
    return true;
  };
  auto drop = [&](std::string_view name, Limits& limits) {
    if (is_bad(name, limits)) limits = Limits{};
  };
  fields(module.thresholds, drop);
}

}  // namespace linkhealth
