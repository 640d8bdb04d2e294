// Compares the ports that a search found with the ports that are known: which are the same,
// renamed, new, or gone. A port that a search did not find is unknown, not gone, while a list or
// its device can't be read, and after one miss. Only its own files (ENODEV) or several searches
// show that it is gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/sampling/sampled_port.h"
#include "model/snapshot.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// A port of an earlier run.
struct RememberedPort {
  PortId id;
  Milliseconds unseen{};  ///< since its RDMA device was seen last
};

/// The ports after a search, and what changed.
struct PortsFound {
  std::map<PortKey, SampledPort> ports;
  std::vector<PortKey> fresh;  ///< of `ports`: these need readers
  std::vector<PortEvent> events;
  std::vector<Gap> gaps;    ///< the inventory's, and what is missing
  bool complete = true;     ///< false: what an earlier search found missing may still be so
  bool again_soon = false;  ///< a port was missed and may be gone: search again soon
};

/// The highest count of the last minute: a driver that is unloaded takes its devices along one by
/// one.
class RecentMaximum {
 public:
  [[nodiscard]] std::size_t value() const { return value_; }
  /// REQUIRES: `count` is at least one.
  void add(std::size_t count, SteadyTime now);

 private:
  static constexpr Milliseconds kRecent{60'000};
  std::size_t value_ = 0;
  std::optional<SteadyTime> lower_since_;
};

class PortInventoryDiff {
 public:
  /// Ports of an earlier run that had a link and an RDMA device, or had lost it. One that is not
  /// found, nor its GUID elsewhere, and whose card is not on the PCI bus or has no driver there, is
  /// gone after some searches. It is a gap if only its netdev is left, or no port at all. Before
  /// the first search.
  void remember(std::vector<RememberedPort> ports) { remembered_ = std::move(ports); }
  /// The serial numbers of an earlier run's modules, by stable key, for ports that are found for
  /// the first time.
  void remember_modules(std::map<std::string, std::string> serials) {
    serials_ = std::move(serials);
  }
  /// Searches that must miss a port whose files still answer.
  static constexpr unsigned kMisses = 3;
  /// How long after it was last seen a port of an earlier run is missed; as long as the history
  /// uses its references (its used_s). Then the port loses its GUID, because an operator may have
  /// unloaded RDMA for good. A port that does not exist leaves the database after 30 days
  /// (model/history/history_references.cpp).
  static constexpr Milliseconds kRememberedFor = std::chrono::hours(7 * 24);

  /// Ports are recognized by PortId::stable_key(): a rename is neither gone nor new, and keeps the
  /// kernel's counts.
  PortsFound compare(Inventory found, std::map<PortKey, SampledPort> known, SteadyTime now);

 private:
  void judge_missing(PortsFound& result, const Inventory& found,
                     std::map<PortKey, SampledPort>& known, SteadyTime now);
  [[nodiscard]] std::string lost_guid(const PortId& plain, const SampledPort* former) const;
  void miss_remembered(PortsFound& result, const Inventory& found, SteadyTime now);
  void report_remembered_gone(PortsFound& result, const Inventory& found, SteadyTime now) const;
  void report_losses(PortsFound& result, SteadyTime now);

  bool first_ = true;
  std::vector<RememberedPort> remembered_;      ///< that are not found yet
  std::map<std::string, std::string> serials_;  ///< of modules whose ports are not found yet
  SteadyTime remembered_from_;                  ///< the first search
  unsigned remembered_looks_ = 0;
  bool remembered_reported_ = false;  ///< those whose card is gone
  std::size_t missed_ = 0;            ///< remembered ports, when a slow driver has had its time
  RecentMaximum watched_before_, rdma_before_;
};

}  // namespace linkhealth
