// Reads this node periodically and merges the readings into one Snapshot. The sampler does not
// judge links: it keeps time, and reports the sources that it could not read.
//
//   what      every (setting)   by which thread
//   links     link_period_s     carrier and its counts, from files that need no lock: this thread
//                               (probes/sysfs/netdev_sysfs.h). A link event prompts a read at once:
//                               the kernel merges fast flaps, but counts them
//   counters  counters_period_s everything else of a port: verbs, FEC, MAC, netdev and driver
//                               statistics, state, speed, PCIe, devlink health: BlockingReadPool
//   modules   module_period_s   EEPROM pages: the module reader's thread
//   discovery rescan_period_s   which ports exist; also when devices are added or removed: pool
//   events    as they come      link and device events, kernel log, verbs events: this thread
//                               (probes/event_feed.h)
//   far ends  (section "peers") one thread per source, merged by PeerMerge
//
// A module read holds the kernel's RTNL lock until it ends, and verbs state, ethtool and netlink
// dumps wait for that lock. The deciding thread therefore reads only files that need no lock, and a
// module never delays it.
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
#include "daemon/sampling/port_inventory_diff.h"
#include "daemon/sampling/port_reader.h"
#include "daemon/sampling/sampled_port.h"
#include "daemon/sampling/sampler_settings.h"
#include "daemon/sampling/source.h"
#include "model/expected_ports.h"
#include "probes/event_feed.h"
#include "probes/host.h"
#include "probes/module/module_reader.h"
#include "probes/netlink/devlink_health.h"

namespace linkhealth {

/// Each thread and each port reads through its own Host.
using HostFactory = std::function<std::unique_ptr<Host>()>;

/// When a periodic read is due: at multiples of the period from a common start, however late the
/// wake-ups are. Counters are therefore read in a wake-up of the links.
class Periodic {
 public:
  SteadyTime at;  ///< may be changed, to be due earlier once

  /// Due at once.
  Periodic(Milliseconds period, SteadyTime begun) : at(begun), period_(period), begun_(begun) {}

  [[nodiscard]] bool is_due(SteadyTime now) const { return now >= at; }
  void done(SteadyTime now) { at = begun_ + ((now - begun_) / period_ + 1) * period_; }

 private:
  Milliseconds period_;
  SteadyTime begun_;
};

class Sampler : public Source {
 public:
  /// `modules`: null for a copied /sys tree, which has none to read. `header`: for recordings of
  /// this node. `feeds`: in addition to those that a Host can open (link events, device events and,
  /// if the settings have it, the kernel log).
  Sampler(HostFactory hosts, std::unique_ptr<ModuleReader> modules, const Clock& clock,
          SamplerSettings settings, RecordingHeader header,
          std::vector<std::unique_ptr<EventFeed>> feeds = {});
  ~Sampler() override;
  /// Null: far ends are not read. Call before the first poll().
  void watch_far_ends(std::unique_ptr<FarEnds> far_ends) { far_ends_ = std::move(far_ends); }
  /// After a reload: the expectations in the header of recordings, and the plan's names of far
  /// ends.
  void expect(const std::map<PortKey, ExpectedPort>& expected, ExpectedPorts planned);
  /// Sets ports of an earlier run, which are reported as missing if they are not found. Call before
  /// the first poll().
  void remember(std::vector<RememberedPort> ports) { ports_search_.remember(std::move(ports)); }
  /// Sets the serial numbers of an earlier run's modules, by the stable key of their ports: a
  /// different one is an event. Call before the first poll().
  void remember_modules(std::map<std::string, std::string> serials) {
    ports_search_.remember_modules(std::move(serials));
  }
  /// Reads the modules of these ports ahead of schedule.
  void read_modules_now(const std::vector<PortKey>& ports);
  /// The modules of these ports are not read until the next call (maintenance).
  void leave_modules(std::set<PortKey> ports);

  std::optional<Snapshot> poll() override;
  [[nodiscard]] std::optional<Milliseconds> until_due() const override;
  [[nodiscard]] std::vector<int> wake_fds() const override;
  [[nodiscard]] RecordingHeader header() const override { return header_; }

  /// All ports, also exempt ones; after the first poll().
  [[nodiscard]] std::vector<InventoryPort> inventory() const;
  /// Open feeds and enabled sources of far ends, by their names in gaps.
  [[nodiscard]] std::set<std::string> sources() const;
  /// Whether everything was read, or found unreadable, at least once.
  [[nodiscard]] bool settled() const;

 private:
  /// A source of events, and until when its descriptor is not watched.
  struct Feed {
    std::unique_ptr<EventFeed> feed;
    SteadyTime rests_until;
    std::string lost{};  ///< which events were recently lost
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
  PortInventoryDiff ports_search_;
  bool discovered_ = false;
  bool discover_ = false;  ///< an event prompts a discovery
  /// Limits discoveries on a node that creates devices all the time.
  SteadyTime discovery_rests_until_;
  SteadyTime last_discovery_;
  std::map<std::string, std::uint64_t> removed_, added_;  ///< device events since then
  unsigned leaving_looks_ = 0;      ///< discoveries that found a device which is being removed
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
  bool has_news_ = false;                                   ///< there is something to publish
  std::map<std::string, double, std::less<>> durations_s_;  ///< of each probe in its last cycle
  std::map<std::string, double, std::less<>> spent_s_;      ///< in this poll
  bool first_ = true;
  Periodic links_due_, counters_due_, discovery_due_;
  Discovery discovery_;
  BlockingReadPool pool_;  ///< last: its jobs' results need all of the above
};

}  // namespace linkhealth
