// What is read of this node, how often, and how it becomes one Snapshot. The sampler decides
// nothing about links: it keeps time, merges groups and says what it could not read.
//
//   group     every (knob)        what is read, and where
//   link      link_period_s       carrier and its counts, from files that wait for no lock, here
//   (probes/carrier.h). A
//                                 link event prompts a read at once: the kernel merges fast flaps,
//                                 the counts are the truth
//   counters  counters_period_s   PMA and hw counters, FEC, MAC, pause, netdev statistics, verbs
//   state, speed,
//                                 lanes: by the read worker
//   pcie      pcie_period_s       speed, width, AER: by the read worker
//   driver    driver_period_s     the driver's own statistics, devlink health: by the read worker
//   module    module_period_s     EEPROM pages: on the module reader's thread
//   inventory rescan_period_s     which ports there are; also when a device comes or goes: by the
//   read worker events    as they come        link and device events, the kernel log, verbs events:
//   see probes/event_feed.h peer      (section "peers")   the far ends: a thread for each source,
//   joined by PeerMerge
//
// Each in whole periods after one beginning (daemon/due.h), or up to a second before its time when
// the daemon is awake because somebody asked (hasten()): in each period once.
//
// A module read holds the kernel's RTNL lock for as long as it takes, and verbs state, ethtool and
// netlink dumps wait for that lock. That is why only lock-free files are read here: the loop is
// never late, whatever a module does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/due.h"
#include "daemon/far_ends.h"
#include "daemon/port_reader.h"
#include "daemon/port_search.h"
#include "daemon/read_worker.h"
#include "daemon/sampled_port.h"
#include "daemon/sampler_settings.h"
#include "daemon/search_desk.h"
#include "daemon/source.h"
#include "model/expected_ports.h"
#include "probes/event_feed.h"
#include "probes/host.h"
#include "probes/module_reader.h"

namespace linkhealth {

/// Each thread and each port reads through a Host of its own.
using HostFactory = std::function<std::unique_ptr<Host>()>;

class Sampler : public Source {
 public:
  /// `modules` may be null: then no module is read (a copied /sys tree has none to ask).
  /// `header` is what a recording of this node begins with. `feeds` are heard besides those that a
  /// Host can open: link events, device events and, when the settings say so, the kernel log.
  Sampler(HostFactory hosts, std::unique_ptr<ModuleReader> modules, const Clock& clock,
          SamplerSettings settings, RecordingHeader header,
          std::vector<std::unique_ptr<EventFeed>> feeds = {});
  ~Sampler() override;
  /// From now on the far ends are watched too; null: they are not. Before the first poll().
  void watch_far_ends(std::unique_ptr<FarEnds> far_ends) { far_ends_ = std::move(far_ends); }
  /// The configuration was read again: what recordings of this node begin with, and what the plan
  /// calls the far ends.
  void expect(const std::map<PortKey, ExpectedPort>& expected, ExpectedPorts planned);
  /// Ports of an earlier run that are missed when they are not here. Before the first poll().
  void remember(std::vector<RememberedPort> ports) { ports_search_.remember(std::move(ports)); }
  /// Serials of modules by the stable key of their ports, as an earlier run read them last: another
  /// one is an event. Before the first poll().
  void remember_modules(std::map<std::string, std::string> serials) {
    ports_search_.remember_modules(std::move(serials));
  }
  /// Somebody works on these ports, and their modules are not read until the next call.
  void leave_modules(std::set<PortKey> ports);
  /// From now on the counters of InfiniBand ports that are found are asked by MADs, where the
  /// settings say so.
  void ask_own_ports(MadOpener opener) { own_ports_ = std::move(opener); }

  std::optional<Snapshot> poll() override;
  bool hasten(Milliseconds slack) override;
  [[nodiscard]] std::optional<Milliseconds> until_due() const override;
  [[nodiscard]] std::vector<int> wake_fds() const override;
  [[nodiscard]] bool wants_thread() const override { return worker_.wants_thread(); }
  std::function<void()> work() override { return worker_.work(); }
  [[nodiscard]] RecordingHeader header() const override { return header_; }

  /// What is there to watch, and what is left out and why; after the first poll().
  [[nodiscard]] std::vector<InventoryPort> inventory() const;
  /// Feeds that are open, and sources of far ends that are on; by their words in gaps.
  [[nodiscard]] std::set<std::string> sources() const;
  /// Whether everything was read, or found unreadable, at least once.
  [[nodiscard]] bool settled() const;
  /// So many searches for ports were done.
  [[nodiscard]] std::uint64_t searches() const { return searches_done_; }

 private:
  struct Cycle;

  /// A source of events, and until when its descriptor is not watched.
  struct Feed {
    std::unique_ptr<EventFeed> feed;
    SteadyTime rests_until;
  };

  void take_events(Cycle& cycle);
  void take_news(Cycle& cycle, FeedNews& news);
  void tell_feeds(SteadyTime now);
  void forget_removed();
  [[nodiscard]] bool is_leaving(const Inventory& found) const;
  void follow_prompts(const Cycle& cycle);
  void rescan(Cycle& cycle);
  void take_search(Cycle& cycle, Inventory found);
  void open_files(SampledPort& port);
  void tell_modules();
  void tell_no_cable(SampledPort& port);
  void say_left_modules(Cycle& cycle);
  void read_all(Cycle& cycle);
  void read_links(Cycle& cycle);
  void read_link(Cycle& cycle, SampledPort& port);
  void add_job(std::vector<ReadWorker::Job>& jobs, const PortKey& key, SampledPort& port,
               ReadGroup group);
  void submit(SampledPort& port, ReadGroup group);
  void submit_due(SteadyTime now);
  void take_readings(Cycle& cycle);
  void take_reading(Cycle& cycle, Reading& reading);
  static void tell_health(Cycle& cycle, const PortKey& port, const HealthReporter& reporter);
  void take_health(Cycle& cycle, const std::vector<HealthReporter>& reporters);
  void take_modules(Cycle& cycle);
  void take_far_ends(Cycle& cycle);
  void take_imported_module(Cycle& cycle, SampledPort& port, MergedPeer& merged);
  static void note_imported_change(Cycle& cycle, SampledPort& port, const ModuleSample& now);
  void report_stuck(Cycle& cycle);
  void end_hangs(Cycle& cycle, std::set<std::pair<PortKey, ReadGroup>> hang);
  void end_node_gap(Cycle& cycle, const Reading& reading);
  void put_links(Cycle& cycle);
  static void note_link_gap(SampledPort& port, std::string reason);
  void say_link_gaps(Cycle& cycle);
  void finish(Cycle& cycle);

  HostFactory hosts_;
  std::unique_ptr<Host> host_;
  std::shared_ptr<Host> statistics_host_;
  std::shared_ptr<Host> health_host_;
  std::shared_ptr<HealthReporters> health_reporters_ = std::make_shared<HealthReporters>();
  std::unique_ptr<ModuleReader> modules_;
  std::unique_ptr<FarEnds> far_ends_;
  ReadWorker worker_;
  SearchDesk searches_;
  const Clock& clock_;
  SamplerSettings settings_;
  MadOpener own_ports_;
  RecordingHeader header_;
  std::map<PortKey, SampledPort> ports_;
  PortSearch ports_search_;
  std::uint64_t readers_ = 0;  ///< so many were made
  bool searched_ = false;
  std::uint64_t searches_done_ = 0;
  std::vector<PortEvent> early_events_;  ///< of before that
  SteadyTime last_search_;
  std::vector<Gap> node_gaps_;
  std::vector<Feed> feeds_;
  std::map<std::string, std::uint64_t> removed_,
      added_;                   ///< what device events said since the last search
  unsigned leaving_looks_ = 0;  ///< searches that found a device on its way out
  bool search_ = false;         ///< an event asks for a search
  SteadyTime search_rests_;  ///< not before: a node that makes devices all day long is not searched
                             ///< all day long
  std::set<PortKey> modules_left_;                ///< ports whose modules are not to be read
  std::set<PortKey> modules_said_;                ///< of those, what has a gap
  std::map<std::string, double> durations_s_;     ///< of each probe's last cycle
  std::map<std::string, SteadyTime> stuck_;       ///< what hangs, and since when
  std::set<std::pair<PortKey, ReadGroup>> hang_;  ///< of that, what end_hangs() is for
  std::set<ReadGroup> node_gaps_of_reads_;        ///< reads of the node that failed the last time
  std::uint64_t firmware_reads_ = 0;              ///< of all ports so far
  std::uint64_t counter_readings_ = 0;  ///< in so many readings of one port's verbs counters
  Due link_, counters_, pcie_, driver_, inventory_due_;
  bool first_ = true;
};

}  // namespace linkhealth
