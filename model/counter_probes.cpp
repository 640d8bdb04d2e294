#include "model/counter_probes.h"

#include <algorithm>

namespace linkhealth {

namespace {

struct Prefix {
  std::string_view prefix, probe;
};
constexpr Prefix kPrefixes[] = {
    {"ctrl_", "ethtool_stats"},  {"devlink_", "devlink"}, {"fec_", "fec"},           {"mac_", "ethtool_stats"},
    {"netdev_", "netdev_stats"}, {"pause_", "pause"},     {"phy_", "ethtool_stats"}, {"rmon_", "ethtool_stats"},
};

/// What goes out as one read, by the name of the gap when that hangs (daemon: ReadGroup).
struct OneRead {
  std::string_view gap, probe;
  bool when_hung_only;  ///< else also when it is refused: nothing of ethtool without its family
};
constexpr OneRead kOneReads[] = {
    {"ethtool", "down_reason", false}, {"ethtool", "ethtool_stats", false}, {"ethtool", "fec", false},
    {"ethtool", "link_modes", false},  {"ethtool", "pause", false},         {"counters", "hw_counters", true},
    {"pcie", "hwmon", true},
};

}  // namespace

bool is_hung(std::string_view reason) {
  return reason.starts_with("no answer within") || reason == "the device does not answer" ||
         reason.starts_with("not read: too many");
}

bool hides(std::string_view gap_of, std::string_view reason, std::string_view probe) {
  return gap_of == probe || std::ranges::any_of(kOneReads, [&](const OneRead& row) {
           return row.gap == gap_of && row.probe == probe && (!row.when_hung_only || is_hung(reason));
         });
}

std::string_view probe_of(CounterId id) {
  const CounterInfo& info = known_counters()[id];
  switch (info.source) {
    case CounterSource::kIbPort:
      return "counters";
    case CounterSource::kIbHw:
      return "hw_counters";
    case CounterSource::kEthtoolFec:
      return "fec";
    case CounterSource::kEthtoolStd:
      if (info.name == "link_ext_down_count") return "down_reason";  // ETHTOOL_MSG_LINKSTATE_GET
      return info.name.starts_with("pause_") ? "pause" : "ethtool_stats";
    case CounterSource::kEthtoolDriver:
      return "driver_stats";
    case CounterSource::kNetdev:
      return "netdev_stats";
  }
  return "";
}

std::string_view probe_of_other(std::string_view name) {
  const auto* const row =
      std::ranges::find_if(kPrefixes, [name](const Prefix& each) { return name.starts_with(each.prefix); });
  return row == std::end(kPrefixes) ? "hw_counters" : row->probe;
}

bool has_counter_of_probe(const Counters& counters, std::string_view probe) {
  return std::ranges::any_of(counters.known(), [&](const auto& entry) { return probe_of(entry.first) == probe; }) ||
         std::ranges::any_of(counters.other(), [&](const auto& entry) { return probe_of_other(entry.first) == probe; });
}

}  // namespace linkhealth
