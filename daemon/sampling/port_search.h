// What a search for ports found, against the ports that are known: which are the same, renamed,
// new, or gone. A port that a search did not find is not gone for that: a list that can't be read,
// a device that can't be read, and one miss alone leave a port unknown. Only its own files (ENODEV)
// or several searches say that it is gone.
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

/// How many there were before they began to go: a driver that is unloaded takes its devices along
/// one by one.
class MostOfLate {
 public:
  [[nodiscard]] std::size_t most() const { return most_; }
  /// `now` there are `count`, at least one. Fewer for longer than kOfLate is how many there are.
  void add(std::size_t count, SteadyTime now);

 private:
  static constexpr Milliseconds kOfLate{60'000};
  std::size_t most_ = 0;
  std::optional<SteadyTime> fewer_since_;
};

class PortSearch {
 public:
  /// Ports of an earlier run that had a link and an RDMA device; a plain one with a GUID had lost
  /// it by then. One that is not found, nor its GUID elsewhere, and whose card is not on the PCI
  /// bus or has no driver there, is told as gone after some searches. That only its netdev is left,
  /// or no port at all, is a gap. Before the first search.
  void remember(std::vector<RememberedPort> ports) { remembered_ = std::move(ports); }
  /// The serials of an earlier run's modules by stable key. A port that is found for the first time
  /// begins with its own.
  void remember_modules(std::map<std::string, std::string> serials) {
    serials_ = std::move(serials);
  }
  /// So many searches must miss a port whose files still answer.
  static constexpr unsigned kMisses = 3;
  /// For so long after it was seen last a run misses what an earlier one had, as long as the
  /// history does (its used_s). An operator may have unloaded RDMA for good: then the ports lose
  /// the GUID that they had, and the next run has nothing to miss. What is not there at all leaves
  /// the memory after 30 days (model/history/history_references.cpp).
  static constexpr Milliseconds kRememberedFor = std::chrono::hours(7 * 24);

  /// Ports are recognized by PortId::stable_key(): a rename is neither gone nor new, and keeps the
  /// kernel's counts.
  PortsFound compare(Inventory found, std::map<PortKey, SampledPort> known, SteadyTime now);

 private:
  void judge_missing(PortsFound& result, const Inventory& found,
                     std::map<PortKey, SampledPort>& known, SteadyTime now);
  [[nodiscard]] std::string lost_guid(const PortId& plain, const SampledPort* former) const;
  void forget_remembered(SteadyTime now);
  void miss_remembered(PortsFound& result, const Inventory& found, SteadyTime now);
  void tell_remembered_gone(PortsFound& result, const Inventory& found, SteadyTime now);
  void name_losses(PortsFound& result, SteadyTime now);

  bool first_ = true;
  std::vector<RememberedPort> remembered_;      ///< and not found yet
  std::map<std::string, std::string> serials_;  ///< of modules, and their ports not found yet
  SteadyTime remembered_from_;                  ///< the first search
  unsigned remembered_looks_ = 0;
  bool remembered_told_ = false;  ///< those whose card is gone
  std::size_t missed_ = 0;        ///< of the remembered ones, once it is no matter of a slow driver
  MostOfLate watched_before_;
  MostOfLate rdma_before_;
};

}  // namespace linkhealth
