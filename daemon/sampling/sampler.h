// What is read of this node, how often, and how it becomes one Snapshot. The sampler decides
// nothing about links: it keeps time, merges what was read and reports what it could not read.
//
//   what      every (setting)   by which thread
//   links     link_period_s     carrier and its counts, from files that wait for no lock: here
//                               (probes/sysfs/carrier.h). A link event prompts a read at once: the
//                               kernel merges fast flaps, the counts are the truth
//   counters  counters_period_s everything else of a port: verbs, FEC, MAC, netdev and driver
//                               statistics, state, speed, PCIe, devlink health: BlockingReadPool
//   modules   module_period_s   EEPROM pages: the module reader's thread
//   discovery rescan_period_s   which ports there are; also when a device comes or goes: the pool
//   events    as they come      link and device events, kernel log, verbs events: here
//                               (probes/event_feed.h)
//   far ends  (section "peers") a thread for each source, joined by PeerMerge
//
// A module read holds the kernel's RTNL lock for as long as it takes, and verbs state, ethtool and
// netlink dumps wait for that lock. That is why only lock-free files are read here: the deciding
// thread is never late, whatever a module does.
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
#include "daemon/sampling/blocking_read_pool.h"
#include "daemon/sampling/discovery.h"
#include "daemon/sampling/far_ends.h"
#include "daemon/sampling/periodic.h"
#include "daemon/sampling/port_reader.h"
#include "daemon/sampling/port_search.h"
#include "daemon/sampling/sampled_port.h"
#include "daemon/sampling/sampler_settings.h"
#include "daemon/sampling/source.h"
#include "model/expected_ports.h"
#include "probes/event_feed.h"
#include "probes/host.h"
#include "probes/module/module_reader.h"
#include "probes/netlink/devlink_health.h"

namespace linkhealth {

/// Each thread and each port reads through a Host of its own.
using HostFactory = std::function<std::unique_ptr<Host>()>;

class Sampler : public Source {
 public:
  /// `modules` may be null: then no module is read (a copied /sys tree has none to read).
  /// `header` is what a recording of this node begins with. `feeds` are received in addition to
  /// those that a Host can open: link events, device events and, when the settings say so, the
  /// kernel log.
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
  /// The modules of these ports are not read until the next call: an operator works on them.
  void leave_modules(std::set<PortKey> ports);

  std::optional<Snapshot> poll() override;
  [[nodiscard]] std::optional<Milliseconds> until_due() const override;
  [[nodiscard]] std::vector<int> wake_fds() const override;
  [[nodiscard]] RecordingHeader header() const override { return header_; }

  /// The ports that there are to watch, and those that are left out and why; after the first
  /// poll().
  [[nodiscard]] std::vector<InventoryPort> inventory() const;
  /// Feeds that are open, and sources of far ends that are on; by their names in gaps.
  [[nodiscard]] std::set<std::string> sources() const;
  /// Whether everything was read, or found unreadable, at least once.
  [[nodiscard]] bool settled() const;

 private:
  /// A source of events, and until when its descriptor is not watched.
  struct Feed {
    std::unique_ptr<EventFeed> feed;
    SteadyTime rests_until;
    std::string lost{};  ///< what of it was lost lately
    SteadyTime lost_at{};
  };

  // --- events and discovery
  void receive_events();
  void accept_news(FeedNews& news);
  void follow_prompts();
  void start_discovery();
  void accept_inventory(Inventory found);
  void adopt(PortsFound result, std::uint64_t found_after);
  void forget_removed();
  [[nodiscard]] bool is_leaving(const Inventory& found) const;
  void publish_ports();
  void publish_module_ports();

  // --- links
  void open_files(SampledPort& port);
  void read_links();
  void read_link(SampledPort& port);
  void publish_links();

  // --- reads that may block
  void submit_due();
  void add_job(std::vector<BlockingReadPool::Job>& jobs, const PortKey& key, SampledPort& port,
               ReadGroup group);
  void read_kernel_now(SampledPort& port);
  void accept_reading(const PortKey& key, const PortReader* reader, ReadGroup group,
                      const Reading& reading);
  void accept_kernel_link(SampledPort& port, const LinkSample& link);
  void accept_statistics(const Result<std::map<std::uint32_t, Counters>>& statistics);
  void accept_health(const Result<std::vector<HealthReporter>>& reporters);
  void accept_health(SampledPort& port, const std::vector<HealthReporter>& reporters);
  void check_hung();

  // --- the state of sources
  [[nodiscard]] SourceReports reports_of(const PortKey& key, const SampledPort& port) const;
  void add_hung(const PortKey& key, SourceReports& reports) const;
  [[nodiscard]] SourceReports node_reports() const;
  void publish_sources();

  // --- modules and far ends
  void accept_modules();
  void accept_far_ends();
  void accept_imported_module(SampledPort& port, MergedPeer& merged);
  void note_imported_change(SampledPort& port, const ModuleSample& now);

  void add_duration(std::string_view probe, double duration_s);
  std::optional<Snapshot> finish_snapshot();

  HostFactory hosts_;
  std::unique_ptr<Host> host_;
  std::shared_ptr<Host> statistics_host_, health_host_;
  std::shared_ptr<HealthReporters> health_reporters_ = std::make_shared<HealthReporters>();
  std::unique_ptr<ModuleReader> modules_;
  std::unique_ptr<FarEnds> far_ends_;
  const Clock& clock_;
  const SamplerSettings settings_;
  RecordingHeader header_;
  std::vector<Feed> feeds_;

  std::map<PortKey, SampledPort> ports_;
  PortSearch ports_search_;
  bool discovered_ = false;
  bool discover_ = false;             ///< an event asks for a discovery
  SteadyTime discovery_rests_until_;  ///< a node that makes devices all day long is not searched
                                      ///< all day long
  SteadyTime last_discovery_;
  std::map<std::string, std::uint64_t> removed_, added_;  ///< by device events since then
  unsigned leaving_looks_ = 0;      ///< discoveries that found a device on its way out
  std::set<PortKey> modules_left_;  ///< ports whose modules are not to be read

  SourceReports by_discovery_;      ///< of the node
  std::string statistics_problem_;  ///< of netdev statistics, which are read for all ports at once
  /// Of devlink health, by the card's PCI address; "": all of it.
  std::vector<std::pair<std::string, std::string>> health_problems_;
  std::vector<BlockingReadPool::Hung> hung_;
  std::string hung_device_;  ///< at which a discovery hangs
  std::optional<PortKey> hung_module_;
  SourceTracker sources_;  ///< of the node

  SteadyTime now_;  ///< of this poll
  FeedNews prompts_;
  Snapshot next_;
  bool has_news_ = false;                                   ///< something is worth a snapshot
  std::map<std::string, double, std::less<>> durations_s_;  ///< of each probe's last cycle
  std::map<std::string, double, std::less<>> spent_s_;      ///< with this poll
  bool first_ = true;
  Periodic links_due_, counters_due_, discovery_due_;
  Discovery discovery_;
  BlockingReadPool pool_;  ///< last: its jobs' results need all of the above
};

}  // namespace linkhealth
