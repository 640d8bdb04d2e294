// Compares the ports found by a search with the known ports: which are the same, renamed, new, or
// gone. A port that was not found is unknown, not gone, while a list or its device cannot be read,
// and after a single miss. Only its own files (ENODEV) or several searches prove that it is gone.
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
  Milliseconds unseen{};  ///< since its RDMA device was last seen
};

/// The ports after a search, and what changed.
struct PortsFound {
  std::map<PortKey, SampledPort> ports;
  std::vector<PortKey> fresh;  ///< subset of `ports` that needs readers
  std::vector<PortEvent> events;
  std::vector<Gap> gaps;  ///< those of the inventory, and missing ports
  bool complete = true;   ///< false: what was missing after an earlier search may still be missing
  bool again_soon = false;  ///< a port was missed and may be gone: search again soon
};

/// The highest count in the last minute: a driver that is unloaded removes its devices one by one.
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
  /// Sets the ports of an earlier run that had a link and an RDMA device, or had lost it. If such a
  /// port is not found, its GUID is not found elsewhere, and its card is not on the PCI bus or has
  /// no driver there, it is gone after some searches. It is a gap if only its netdev is left, or no
  /// port at all. Call before the first search.
  void remember(std::vector<RememberedPort> ports) { remembered_ = std::move(ports); }
  /// Sets the serial numbers of an earlier run's modules, by stable key, for ports that are found
  /// for the first time.
  void remember_modules(std::map<std::string, std::string> serials) {
    serials_ = std::move(serials);
  }
  /// Number of searches that must miss a port whose files still answer.
  static constexpr unsigned kMisses = 3;
  /// How long a port of an earlier run is missed after it was last seen: as long as the history
  /// uses its baselines (its used_s). Then the port loses its GUID, because an operator may have
  /// unloaded RDMA for good. A port that does not exist leaves the database after 30 days
  /// (model/history/history_references.cpp).
  static constexpr Milliseconds kRememberedFor = std::chrono::hours(7 * 24);

  /// Ports are recognised by PortId::stable_key(): a rename is neither gone nor new, and keeps the
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
  std::vector<RememberedPort> remembered_;      ///< not found yet
  std::map<std::string, std::string> serials_;  ///< of modules whose ports are not found yet
  SteadyTime remembered_from_;                  ///< time of the first search
  unsigned remembered_looks_ = 0;
  bool remembered_reported_ = false;  ///< those whose card is gone were reported
  std::size_t missed_ = 0;  ///< remembered ports missing after a slow driver has had its time
  RecentMaximum watched_before_, rdma_before_;
};

}  // namespace linkhealth
