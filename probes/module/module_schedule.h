// Which module to read next, and what its answer means: the module reader's logic without its
// thread. The caller provides the time.
//
// A round: the pages of the read plan, then the serial number again (a swap would mix two modules'
// pages), then one sample. A read holds the kernel's RTNL lock and uses a slow bus. Therefore there
// is one read at a time with pauses in between; constant pages are read once per insertion,
// monitors once per period, slow modules and failing ports less often, an empty cage rarely. Read
// again only after an event: a cage that the driver itself calls empty, a port without a module
// interface.
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

/// A port whose module is read, through its netdev.
struct ModulePort {
  PortKey port;
  std::uint32_t ifindex = 0;
  /// The driver reports it (ETHTOOL_LINK_EXT_STATE_NO_CABLE) without reading the module. It may
  /// refer only to the fibre.
  bool no_cable = false;
  bool left_alone = false;  ///< not read: an operator works on it (maintenance)
};

struct ModuleTiming {
  Milliseconds period{10'000};  ///< from the end of one round to the next
  /// Shortest time between two rounds. Used after the first round, because latched flags are valid
  /// from the second on.
  Milliseconds settle{1'000};
  Milliseconds absent_period{30'000};  ///< how often an empty cage is checked without an event
  Milliseconds first_retry{2'000};     ///< after a failure; doubles with each further one
  /// Upper limit of the doubling, and of the pauses of slow modules.
  Milliseconds longest_wait{300'000};
  int slow_factor = 50;  ///< a round that took t is followed by a pause of at least 50 t
};

/// One read to be made now.
struct ModuleRead {
  PortKey port;
  std::uint32_t ifindex = 0;
  ModulePageRequest page;
};

enum class ModuleChange : std::uint8_t {
  kNone,
  kInserted,  ///< the cage was empty before
  kRemoved,   ///< there was a module before
  kSwapped,   ///< the part or serial number changed
};

/// The result of one round on a port: a sample (present or not), or the reason why there is none.
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

  /// The current ports. The state of ports that stay is kept; a new ifindex is a new device.
  void set_ports(const std::vector<ModulePort>& ports, SteadyTime now);
  /// An event of the port (link change, driver message): read everything soon, and reset earlier
  /// failures. A slow module still keeps its pause.
  void request(const PortKey& port, SteadyTime now);

  /// The read to make now; nullopt when none is due. REQUIRES: the last one was answered with
  /// done().
  std::optional<ModuleRead> next(SteadyTime now);
  /// When next() will return a read; nullopt: not before set_ports() or request().
  [[nodiscard]] std::optional<SteadyTime> wake_at() const;
  /// The answer to the last read. Ignored if its port has gone since. `took`: how long the read
  /// held the RTNL lock. `wall`: the wall time at `ended`, for people.
  void done(const ModuleRead& read, const Result<std::vector<std::uint8_t>>& answer,
            Microseconds took, SteadyTime ended, WallTime wall);

  /// The newest finished round of each port since the last call. It includes the flags seen in any
  /// of the rounds in between, because reading cleared them in the module.
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
  /// The state of the module in the cage.
  struct Module {
    ModuleImage image;
    std::optional<Identity> identity;
    std::map<ModulePageKey, PageFailure> failed_pages;
    /// When to read all pages again, because some failed or were implausible; nullopt: not needed.
    std::optional<SteadyTime> reread_at;
    int rereads = 0;             ///< in a row
    bool flags_valid = false;    ///< an earlier round cleared what had been latched before
    std::vector<bool> activity;  ///< of the last round
    ModuleFlagHistory history;
    std::optional<ModuleSample> unpublished;  ///< its flags were cleared by a round that failed
  };
  struct Port {
    ModulePort id;
    std::optional<SteadyTime> due;  ///< nullopt: not before an event
    SteadyTime not_before;          ///< even an event cannot make it earlier
    Module module;
    std::optional<bool> present;  ///< as last seen
    bool unsupported = false;     ///< the driver has no module interface
    int failures = 0;             ///< rounds in a row
    /// A module answered while the driver reported no cable: the report refers to the fibre.
    bool no_cable_means_fibre = false;
    int silences = 0;      ///< failed reads while the driver reports no cable
    bool swapped = false;  ///< another module was seen but not yet reported by a round

    // The round in progress.
    bool in_round = false;
    bool checking_identity = false;         ///< the round's last read
    bool event_in_round = false;            ///< the next round follows soon
    bool no_cable_at_start = false;         ///< as the driver reported when the round began
    std::optional<ModulePageRequest> rest;  ///< remainder of a short read
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
  WallTime wall_;           ///< wall time of the last answer
  SteadyTime quiet_until_;  ///< others can take the lock until then
};

}  // namespace linkhealth
