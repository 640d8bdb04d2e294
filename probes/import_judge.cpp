#include "probes/import_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/text.h"
#include "model/counters.h"
#include "model/sample_fields.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxLanes = 32;  // of a module with four banks (CMIS 8.1)
constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxItems = 1024;  // VDM: 256 instances on each of four banks (CMIS 7.1)

/// What a quantity can be: wider than anything works, narrower than what a mistaken unit gives.
struct Range {
  std::string_view ending;  ///< of the key
  std::string_view words;   ///< with the value in its place; "": the key and the value
  double low, high;
};
/// The first row whose ending fits.
constexpr auto kRanges = std::to_array<Range>({
    {"temperature_c", "temperature of {:g} °C", -100, 200},
    {"_v", "supply of {:g} V", 0, 20},
    {"power_mw", "power of {:g} mW", 0, 1000},
    {"bias_ma", "bias of {:g} mA", 0, 2000},
    {"_current_ma", "current of {:g} mA", -10'000, 10'000},
    {"_db", "ratio of {:g} dB", -20, 256},
    {"_dbm", "power of {:g} dBm", -100, 60},
    {"_ber", "BER of {:g}", 0, 1},
    {"errored_frames", "", 0, 1e12},  // CMIS gives up to 2.047e10
    {"_symbols", "", 0, 65'535},
    {"_percent", "share of {:g} %", -1000, 1000},
    {"speed_mbps", "speed of {:g} Mb/s", 0, 100e6},
    {"lanes", "", 0, 64},
    {"_per_nm", "", -1e6, 1e6},
    {"_nm", "wavelength of {:g} nm", 100, 10'000},
    {"_m", "length of {:g} m", 0, 1e7},
    {"_w", "power of {:g} W", 0, 1000},
});
/// Neither of CMIS's nor of verbs' numbers is larger.
constexpr double kLargest = 1e20;

/// The words of docs/schema; "": left out. Those of a port are the kernel's
/// (drivers/infiniband/core/sysfs.c).
using Words = std::span<const std::string_view>;
constexpr std::string_view kPortStateWords[] = {"",      "NOP",    "DOWN",        "INIT",
                                                "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr std::string_view kPortPhysStateWords[] = {"",
                                                    "Sleep",
                                                    "Polling",
                                                    "Disabled",
                                                    "PortConfigurationTraining",
                                                    "LinkUp",
                                                    "LinkErrorRecovery",
                                                    "Phy Test"};
constexpr std::string_view kModuleKindWords[] = {"optical", "aoc", "dac", "acc", "unknown"};
constexpr std::string_view kFibreFaceWords[] = {"", "UPC", "APC"};
constexpr std::string_view kLoopbackSideWords[] = {"", "host", "media"};
constexpr std::string_view kLoopbackPlaceWords[] = {"", "input", "output"};

/// Parts of a quantity that has several.
bool is_part(std::string_view name) {
  constexpr auto kParts =
      std::to_array<std::string_view>({"min", "max", "avg", "current", "total", "low_alarm",
                                       "low_warn", "high_warn", "high_alarm", "limits"});
  return std::ranges::find(kParts, name) != kParts.end();
}

std::string spaced(std::string_view key) {
  std::string words(key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

class Judge {
 public:
  void object(std::string what) {
    if (why_.empty()) why_ = std::move(what);
  }
  void text(std::string_view key, std::string_view text) {
    if (key == "warnings") key = "warning";
    if (text.size() > kMaxText || printable(text) != text)
      object(spaced(key) + " that is no plain text");
  }
  void number(std::string_view key, double value) {
    const auto fits = [key](const Range& range) { return key.ends_with(range.ending); };
    const auto range = std::ranges::find_if(kRanges, fits);
    const bool known = range != kRanges.end();
    const double low = known ? range->low : -kLargest;
    const double high = known ? range->high : kLargest;
    if (value >= low && value <= high) return;
    object(known && !range->words.empty() ? fmt::format(fmt::runtime(range->words), value)
                                          : fmt::format("{} of {:g}", spaced(key), value));
  }
  /// A register that nobody answers for reads so; a counter that is full ends at its own width, or
  /// never gets there.
  void count(std::string_view name, std::uint64_t count) {
    if (count == std::numeric_limits<std::uint64_t>::max() && flaw_.empty())
      flaw_ = fmt::format("a {} of all ones: nobody answered, and the entry is not taken", name);
  }
  void word(std::string_view what, std::string_view word, Words words) {
    if (std::ranges::find(words, word) == words.end())
      object(fmt::format("{} that there is not", what));
  }
  [[nodiscard]] Judgement judgement() const { return {why_, flaw_}; }

 private:
  std::string why_, flaw_;
};

/// Goes through every field, with the key of the quantity that it belongs to.
class Walk {
 public:
  explicit Walk(Judge& judge, std::string_view key = "") : judge_(judge), key_(key) {}

  template <typename T>
  void operator()(std::string_view name, const T& field) {
    Walk(judge_, is_part(name) ? key_ : name).value(field);
  }
  template <typename T>
  void always(std::string_view name, const T& field) {
    (*this)(name, field);
  }

  void value(bool /*yes*/) {}
  void value(WallTime /*at*/) {}
  void value(double number) { judge_.number(key_, number); }
  void value(std::uint32_t number) { judge_.number(key_, number); }
  void value(std::uint64_t number) { judge_.count(key_, number); }
  void value(const std::string& text) { judge_.text(key_, text); }
  void value(const Counters& counters) {
    for (const auto& [id, number] : counters.known())
      judge_.count(known_counters()[id].name, number);
    for (const auto& [name, number] : counters.other()) {
      judge_.text("counter name", name);
      judge_.count(name, number);
    }
    if (counters.size() > kMaxItems)
      judge_.object(fmt::format("list of {} counters", counters.size()));
  }
  template <typename T>
  void value(const std::optional<T>& field) {
    if (field) value(*field);
  }
  template <typename List>
  requires requires(const List& list) { list.begin(), list.size(); }
  void value(const List& list) {
    if (list.size() > kMaxItems)
      judge_.object(fmt::format("list of {} {}", list.size(), spaced(key_)));
    for (const auto& item : list) value(item);
  }
  template <typename T>
  void value(const T& group) {
    fields(group, *this);
  }

 private:
  Judge& judge_;
  std::string_view key_;
};

void judge_module(Judge& judge, const ModuleSample& module) {
  judge.word("module kind", module.kind, kModuleKindWords);
  judge.word("fibre face", module.fibre_face, kFibreFaceWords);
  for (const ModuleLoopback& loopback : module.loopbacks) {
    judge.word("loopback side", loopback.side, kLoopbackSideWords);
    judge.word("loopback place", loopback.at, kLoopbackPlaceWords);
  }
  if (module.lanes.size() > kMaxLanes)
    judge.object(fmt::format("module with {} lanes", module.lanes.size()));
  Walk(judge).value(module);
}

void judge_states(Judge& judge, const LinkSample& link) {
  judge.word("port state", link.state, kPortStateWords);
  judge.word("physical port state", link.phys_state, kPortPhysStateWords);
}

void judge_peer(Judge& judge, const PeerSample& peer) {
  if (peer.source != "telemetry" && peer.source != "fleet")
    judge.object("peer source that is neither telemetry nor fleet");
  if (peer.age_s && !(*peer.age_s >= 0 && *peer.age_s <= kMaxImportValidSeconds))
    judge.object("peer age that can't be");
  if (peer.module_age_s || !peer.module_source.empty())
    judge.object("peer module with a source of its own");
  if (peer.link_age_s || !peer.link_source.empty())
    judge.object("peer link with a source of its own");
  if (peer.counters_age_s || !peer.counters_source.empty())
    judge.object("peer counters with a source of their own");
  if (peer.module) judge_module(judge, *peer.module);
  Walk(judge).value(peer);
  if (peer.link) judge_states(judge, *peer.link);
}

bool are_zero(const Limits& limits) {
  const auto is_zero = [](const std::optional<double>& limit) { return limit.value_or(0) == 0; };
  return (limits.high_warn || limits.high_alarm) && is_zero(limits.low_alarm) &&
         is_zero(limits.low_warn) && is_zero(limits.high_warn) && is_zero(limits.high_alarm);
}

bool in_order(const Limits& limits) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double low_alarm = limits.low_alarm.value_or(-kNone);
  const double low_warn = limits.low_warn.value_or(low_alarm);
  const double high_alarm = limits.high_alarm.value_or(kNone);
  const double high_warn = limits.high_warn.value_or(high_alarm);
  return low_alarm <= low_warn && low_warn < high_warn && high_warn <= high_alarm;
}

void leave_out_bad_limits(ModuleSample& module) {
  auto of_quantity = [&](std::string_view name, Limits& limits) {
    if (limits.empty() || (!are_zero(limits) && in_order(limits))) return;
    module.warnings.push_back(fmt::format("limits of {} are {}: left out", name,
                                          are_zero(limits) ? "all zero" : "not in order"));
    limits = Limits{};
  };
  fields(module.thresholds, of_quantity);
}

}  // namespace

void leave_out_bad_limits(ImportedPort& port) {
  if (port.peer && port.peer->module) leave_out_bad_limits(*port.peer->module);
  if (port.module) leave_out_bad_limits(*port.module);
}

Judgement judge(const ImportedPort& port) {
  Judge judge;
  if (port.peer) judge_peer(judge, *port.peer);
  if (port.module) judge_module(judge, *port.module);
  return judge.judgement();
}

}  // namespace linkhealth
