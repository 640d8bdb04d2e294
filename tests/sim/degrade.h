// Removes from a recording what another driver, another reading period or an operator without a
// plan would not provide. The diagnosis must stay right or fall back honestly: to a fault that is
// indistinguishable from the true one, or to none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace linkhealth::sim {

struct Degrade {
  std::string_view name;
  std::string_view meaning;
  void (*strip)(PortSample&) = nullptr;  ///< if one sample is enough
};
std::span<const Degrade> degrade_table();
/// nullptr: no such row.
const Degrade* find_degrade(std::string_view name);

class Degrader {
 public:
  /// `keep_from_s`: where late_start begins.
  Degrader(const Degrade& kind, double keep_from_s) : kind_(kind), keep_from_s_(keep_from_s) {}
  void header(RecordingHeader& header) const;
  /// nullopt: this snapshot is left out; its events are added to the next one.
  std::optional<Snapshot> apply(Snapshot snapshot);

 private:
  bool thin(Snapshot& snapshot);
  void strip(PortSample& port, const PortKey& key, SteadyTime now);
  void keep_due(PortSample& port, const PortKey& key, SteadyTime now);

  [[nodiscard]] bool is(std::string_view name) const { return kind_.name == name; }

  const Degrade& kind_;
  double keep_from_s_;
  std::uint64_t count_ = 0;
  Snapshot held_;  ///< what is added to the next snapshot of a thinned recording
  std::optional<SteadyTime> module_at_;
  std::map<std::pair<PortKey, std::string>, SteadyTime> counted_at_;
  bool module_due_ = false;
  std::map<PortKey, SourceMap> sources_, shown_sources_;
};

}  // namespace linkhealth::sim
