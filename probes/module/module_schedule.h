// Which module to read next, and what its answer means. The module reader's logic without its
// thread; the caller gives the time.
//
// A round: the pages of the read plan, then the serial number again (a swap would mix two modules'
// pages), then one sample. A read holds the kernel's RTNL lock and uses a slow bus, so: one read at
// a time with pauses between them, pages that do not change once for each insertion, monitors once
// a period, slow modules and failing ports less often, an empty cage seldom. Not again until an
// event: a cage that the driver itself calls empty, a port without a module interface.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/snapshot.h"
#include "probes/module/image.h"
#include "probes/module/module_flags.h"

namespace linkhealth {

/// A port whose module is to be read, through its netdev.
struct ModulePort {
  PortKey port;
  std::uint32_t ifindex = 0;
  /// The driver reports it (ETHTOOL_LINK_EXT_STATE_NO_CABLE) without a look at the module. It
  /// may mean only the fibre.
  bool no_cable = false;
  bool left_alone = false;  ///< not read: an operator works on it (maintenance)
};

struct ModuleTiming {
  Milliseconds period{10'000};  ///< from the end of one round to the next
  Milliseconds settle{1'000};   ///< the shortest time between two rounds; also after the first one,
                                ///< for the second one's latched flags are the first valid ones
  Milliseconds absent_period{30'000};  ///< how often an empty cage is looked at without an event
  Milliseconds first_retry{2'000};     ///< after a failure; doubles with each further one
  Milliseconds longest_wait{300'000};  ///< the end of the doubling, and of the slowing down
  int slow_factor = 50;  ///< a round that took t is followed by a pause of at least 50 t
};

/// One read to make now.
struct ModuleRead {
  PortKey port;
  std::uint32_t ifindex = 0;
  ModulePageRequest page;
};

enum class ModuleChange : std::uint8_t {
  kNone,
  kInserted,  ///< the cage was empty before
  kRemoved,   ///< there was a module before
  kSwapped,   ///< the part or serial number is another one
};

/// What one round on a port gave: a sample (present or not) or the reason why there is none.
struct ModuleRound {
  PortKey port;
  std::optional<ModuleSample> sample;
  std::optional<Gap> gap;  ///< probe "module"; its reason begins with the errno's name: "EBUSY"
  ModuleChange change = ModuleChange::kNone;
  SteadyTime started_at;
  double duration_s = 0;  ///< the sum of its reads
};

class ModuleSchedule {
 public:
  explicit ModuleSchedule(ModuleTiming timing) : timing_(timing) {}

  /// The ports there are now. What is known of those that stay is kept; a new ifindex is a new
  /// device.
  void set_ports(const std::vector<ModulePort>& ports, SteadyTime now);
  /// An event of the port (link change, driver message): read everything soon, and forget earlier
  /// failures. A slow module keeps its pause all the same.
  void request(const PortKey& port, SteadyTime now);

  /// The read to make now; nullopt when none is due. REQUIRES: the last one was answered with
  /// done().
  std::optional<ModuleRead> next(SteadyTime now);
  /// When next() will have something; nullopt: not before set_ports() or request().
  [[nodiscard]] std::optional<SteadyTime> wake_at() const;
  /// The answer to the last read. Ignored when its port has gone meanwhile. `took` is for how long
  /// the read held its lock, `wall` the time at `ended`, for people.
  void done(const ModuleRead& read, const Result<std::vector<std::uint8_t>>& answer,
            Microseconds took, SteadyTime ended, WallTime wall);

  /// The newest finished round of each port since the last call. Flags that any of the rounds in
  /// between saw are set in it: reading had cleared them in the module.
  std::vector<ModuleRound> collect_rounds();
  [[nodiscard]] bool has_rounds() const { return !finished_.empty(); }

 private:
  /// Part and serial number.
  struct Identity {
    ModulePageRequest where;
    std::string bytes;
  };
  struct PageFailure {
    int errnum = 0;
    int count = 0;  ///< in a row
  };
  /// What is known of the module that is in the cage.
  struct Module {
    ModuleImage image;
    std::optional<Identity> identity;
    std::map<ModulePageKey, PageFailure> failed_pages;
    /// All pages are read again then: some failed, or gave what cannot be; nullopt: all is well.
    std::optional<SteadyTime> reread_at;
    int rereads = 0;             ///< in a row
    bool flags_valid = false;    ///< an earlier round cleared what was latched before
    std::vector<bool> activity;  ///< of the last round
    ModuleFlagHistory history;
    std::optional<ModuleSample> unpublished;  ///< its flags were cleared by a round that failed
  };
  struct Port {
    ModulePort id;
    std::optional<SteadyTime> due;  ///< nullopt: not until an event
    SteadyTime not_before;          ///< an event cannot hurry it more than this
    Module module;
    std::optional<bool> present;  ///< as last seen
    bool unsupported = false;     ///< the driver has no module interface
    int failures = 0;             ///< rounds in a row
    /// A module answered while the driver reported no cable: it means the fibre.
    bool no_cable_means_fibre = false;
    int silences = 0;      ///< failed reads while the driver reports no cable
    bool swapped = false;  ///< another module was seen, and no round has reported it yet

    // The round in progress.
    bool in_round = false;
    bool checking_identity = false;         ///< its last read
    bool event_in_round = false;            ///< the next round follows soon
    bool no_cable_at_start = false;         ///< as the driver reported when it began
    std::optional<ModulePageRequest> rest;  ///< what a short read left over
    SteadyTime started_at;
    Microseconds duration{0};
  };

  Port* find(const PortKey& key);
  static void look_soon(Port& port, SteadyTime now);
  Port* next_port(SteadyTime now);
  static void begin_round(Port& port, SteadyTime now);
  static std::optional<ModulePageRequest> next_page(Port& port);
  void store_error(Port& port, const ModulePageRequest& page, const Error& error, SteadyTime now);
  void check_identity(Port& port, SteadyTime now);
  void end_absent(Port& port, SteadyTime now);
  void end_failed(Port& port, const Error& error, SteadyTime now);
  void end_good(Port& port, SteadyTime now);
  void plan_reread(Module& module, const ModuleSample& sample, SteadyTime now) const;
  void finish(Port& port, std::optional<ModuleSample> sample, std::optional<Gap> gap,
              ModuleChange change);
  void set_due(Port& port, SteadyTime now, Milliseconds wait) const;
  [[nodiscard]] Milliseconds back_off(int failures) const;

  ModuleTiming timing_;
  std::vector<Port> ports_;
  std::vector<ModuleRound> finished_;
  WallTime wall_;           ///< of the last answer
  SteadyTime quiet_until_;  ///< others get the lock until then
};

}  // namespace linkhealth
