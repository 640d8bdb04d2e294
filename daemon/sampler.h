// What is read of this node, how often, and how it becomes one Snapshot. The sampler decides nothing about links: it keeps
// time, merges groups and says what it could not read.
//
//   group     every (knob)           what is read
//   link      link_period_s          carrier and its counts of all ports in one netlink dump; verbs state files. A link
//                                    event prompts a read at once: the kernel merges fast flaps, the counts are the truth
//   counters  counters_period_s      PMA and hw counters, FEC, MAC, pause, netdev statistics; speed, lanes, FEC mode
//   pcie      pcie_period_s          speed, width, AER
//   module    module_period_s        EEPROM pages, by the module reader's own thread; taken when finished, never waited for
//   inventory rescan_period_s        which ports there are; also when a device comes or goes
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/kernel_tables.h"
#include "daemon/port_reader.h"
#include "daemon/source.h"
#include "model/knobs.h"
#include "probes/host.h"
#include "probes/module_reader.h"

namespace linkhealth {

struct SamplerSettings {
  Milliseconds link_period{1000};
  Milliseconds counters_period{10'000};
  Milliseconds module_period{30'000};
  Milliseconds pcie_period{60'000};
  Milliseconds rescan_period{60'000};
  /// A module read that takes longer is reported as hung.
  Milliseconds module_patience{5'000};
};

/// The section "sampling" of the configuration.
std::span<const KnobGroup> sampler_knob_groups();
SamplerSettings sampler_settings(const KnobTable& knobs);
/// How the module reader keeps time.
ModuleTiming module_timing(const SamplerSettings& settings);

class Sampler : public Source {
 public:
  /// `modules` may be null: then no module is read (a copied /sys tree has none to ask).
  /// `header` is what a recording of this node begins with.
  Sampler(std::unique_ptr<Host> host, std::unique_ptr<ModuleReader> modules, const Clock& clock,
          SamplerSettings settings, RecordingHeader header);
  ~Sampler() override;

  std::optional<Snapshot> poll() override;
  [[nodiscard]] std::optional<Milliseconds> until_due() const override;
  [[nodiscard]] std::vector<int> wake_fds() const override;
  [[nodiscard]] RecordingHeader header() const override { return header_; }

  /// What is there to watch, and what is left out and why; after the first poll().
  [[nodiscard]] std::vector<InventoryPort> inventory() const;
  /// Whether every module was read, or found unreadable, at least once.
  [[nodiscard]] bool modules_settled() const;

 private:
  /// When a group is to be read again.
  struct Due {
    Milliseconds period{0};
    SteadyTime at;
    [[nodiscard]] bool is_due(SteadyTime now) const { return now >= at; }
    void done(SteadyTime now) { at = now + period; }
  };
  struct Cycle;

  void drain_link_events(Cycle& cycle);
  void rescan(Cycle& cycle);
  void read_links(Cycle& cycle);
  void read_counters(Cycle& cycle);
  void read_pcie(Cycle& cycle);
  void take_modules(Cycle& cycle);
  void report_hung_module(Cycle& cycle);
  void finish(Cycle& cycle);
  template <typename Step>
  void timed(Cycle& cycle, const char* probe, Step step);

  std::unique_ptr<Host> host_;
  std::unique_ptr<ModuleReader> modules_;
  const Clock& clock_;
  SamplerSettings settings_;
  RecordingHeader header_;
  KernelTables tables_;
  std::map<PortKey, PortReader> ports_;
  std::vector<Gap> inventory_gaps_;
  std::unique_ptr<HostEvents> link_events_;
  std::optional<Error> no_link_events_;
  std::map<PortKey, bool> module_seen_;
  std::optional<SteadyTime> hung_since_;
  Due link_, counters_, pcie_, inventory_due_;
  bool first_ = true;
};

}  // namespace linkhealth
