#include "model/counter_probes.h"

#include <algorithm>
#include <span>

namespace linkhealth {

namespace {

struct Prefix {
  std::string_view prefix, probe;
};
constexpr Prefix kPrefixes[] = {
    {"ctrl_", "ethtool_stats"}, {"devlink_", "devlink"},     {"fec_", "fec"},
    {"mac_", "ethtool_stats"},  {"netdev_", "netdev_stats"}, {"pause_", "pause"},
    {"phy_", "ethtool_stats"},  {"rmon_", "ethtool_stats"},
};

/// What one reader reads of a port, one thing at a time: while one hangs nothing of the others is
/// read (daemon: ReadWorker::is_out()). By the names of their gaps, and of the one that is told
/// when a read of them hangs.
constexpr std::string_view kOfOneReader[] = {
    "counters",    "down_reason", "driver_stats", "ethtool", "ethtool_stats", "fec",
    "hw_counters", "hwmon",       "link_modes",   "pause",   "pcie"};
/// Of these nothing comes without the kernel's family of requests, whose gap is "ethtool".
constexpr std::string_view kByEthtool[] = {"down_reason", "ethtool_stats", "fec", "link_modes",
                                           "pause"};

}  // namespace

bool is_hung(std::string_view reason) {
  return reason.starts_with("no answer within") || reason == "the device does not answer" ||
         reason.starts_with("not read: too many");
}

bool hides(std::string_view gap_of, std::string_view reason, std::string_view probe) {
  const auto has = [](std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (gap_of == probe) return true;
  if (is_hung(reason)) return has(kOfOneReader, gap_of) && has(kOfOneReader, probe);
  return gap_of == "ethtool" && has(kByEthtool, probe);
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
  const auto* const row = std::ranges::find_if(
      kPrefixes, [name](const Prefix& each) { return name.starts_with(each.prefix); });
  return row == std::end(kPrefixes) ? "hw_counters" : row->probe;
}

bool has_counter_of_probe(const Counters& counters, std::string_view probe) {
  return std::ranges::any_of(counters.known(),
                             [&](const auto& entry) { return probe_of(entry.first) == probe; }) ||
         std::ranges::any_of(counters.other(), [&](const auto& entry) {
           return probe_of_other(entry.first) == probe;
         });
}

}  // namespace linkhealth
