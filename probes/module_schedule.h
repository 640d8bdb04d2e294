// What to read next from which transceiver module, and what to make of the answer: the brain of the
// module reader, with the time given from outside and no thread in it.
//
// A read holds the kernel's RTNL lock and asks a slow bus, so: one read at a time with pauses
// between them, identity once for each insertion, monitors once a period, slow modules less often
// and not while another is due, failing ports less and less often, an empty cage seldom. Not again
// until something happens: a cage of which the driver itself says that it is empty, a port without
// a module interface.
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
#include "probes/module_flags.h"

namespace linkhealth {

/// A port whose module is to be read, through its netdev.
struct ModulePort {
  PortKey port;
  std::uint32_t ifindex = 0;
  bool no_cable = false;  ///< the driver says so itself (ETHTOOL_LINK_EXT_STATE_NO_CABLE), without
                          ///< a look at the module
  bool left_alone = false;  ///< not read: somebody works on it
};

struct ModuleTiming {
  Milliseconds period{10'000};  ///< from the end of one round of monitors to the next
  Milliseconds settle{1'000};  ///< the shortest time between two rounds; also from the first one to
                               ///< the second, whose latched flags are the first valid ones
  Milliseconds absent_period{
      30'000};                      ///< how often an empty cage is looked at, where no event tells
  Milliseconds first_retry{2'000};  ///< after a failure; doubles with each further one
  Milliseconds longest_wait{300'000};  ///< the end of the doubling, and of the slowing down
  Milliseconds round_patience{
      5'000};            ///< a round that takes longer lets other ports go between its reads
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
  /// device. What the driver says newly is a reason to look: it may mean the module, or only its
  /// fibre.
  void set_ports(const std::vector<ModulePort>& ports, SteadyTime now);
  /// Something happened to the port (a link event, a driver message): look soon, and forget that it
  /// failed before. A slow module keeps its pause all the same.
  void request(const PortKey& port, SteadyTime now);

  /// The read to make now; nullopt when none is due. REQUIRES: the last one was answered with
  /// done().
  std::optional<ModuleRead> next(SteadyTime now);
  /// When next() will have something; nullopt: not before set_ports() or request().
  [[nodiscard]] std::optional<SteadyTime> wake_at() const;
  /// The answer to the last read. Ignored when its port is gone meanwhile. `took` is for how long
  /// the read held its lock, `wall` the time at `ended`, for people.
  void done(const ModuleRead& read, const Result<std::vector<std::uint8_t>>& answer,
            Microseconds took, SteadyTime ended, WallTime wall);

  /// The newest finished round of each port since the last call. Flags that any of the rounds in
  /// between saw are set in it: reading had cleared them in the module.
  std::vector<ModuleRound> take_finished();
  [[nodiscard]] bool has_finished() const { return !finished_.empty(); }

 private:
  /// What tells a module from the next one.
  struct Proof {
    ModulePageRequest where;
    std::string bytes;
  };
  struct PageFailure {
    int errnum = 0;
    int count = 0;                       ///< in a row
    std::optional<SteadyTime> again_at;  ///< nullopt: never, the page is not there
  };
  struct Port {
    ModulePort id;
    std::optional<SteadyTime> due;  ///< nullopt: not until something happens
    SteadyTime not_before;          ///< a request() cannot hurry it more than this
    ModuleImage image;              ///< what is known of the module that is in
    std::optional<Proof> proof;     ///< that it is the same module still
    std::optional<bool> present;    ///< as last seen
    bool unsupported = false;       ///< the driver has no module interface
    bool no_cable_before = false;   ///< the driver said so when the round began
    bool answered =
        false;  ///< a module did, while the driver said that no cable is in: it means the fibre
    int silences = 0;          ///< looks that failed meanwhile
    bool asked_again = false;  ///< while the round was going on
    bool in_round = false;
    bool identified = false;  ///< all that never changes was read
    bool flags_valid =
        false;  ///< the latched flags were cleared by an earlier round on this module
    bool laser_error_told = false;  ///< an earlier round gave the error of its laser's frequency
    ModuleCalm calm;                ///< as the last round found it
    ModuleFlagHistory history;
    std::optional<ModuleSample> unseen;  ///< whose flags a round that ended early had cleared
    std::optional<ModuleImage> doubted;  ///< what was read before it is read anew
    bool ending = false;                 ///< the read in progress is the round's last: the proof
    int failures = 0;                    ///< rounds in a row
    std::map<ModulePageRequest, PageFailure> page_failures;
    int doubts = 0;  ///< how often its identity answered what can't be
    std::optional<SteadyTime>
        doubt_at;  ///< it is read anew then; nullopt: it is well, or it is what it is
    std::optional<ModulePageRequest> rest;  ///< what a short read left over
    bool swapped = false;  ///< another module's bytes were seen, and no round has told of it yet:
                           ///< it may boot first
    ModuleChange change = ModuleChange::kNone;
    SteadyTime started_at;
    SteadyTime turn_at;  ///< of the round's newest read
    Microseconds duration{0};
  };

  Port* find(const PortKey& key);
  static void leave_alone(Port& port, bool left, SteadyTime now);
  static void take_word(Port& port, bool no_cable, SteadyTime now);
  static void look_soon(Port& port, SteadyTime now);
  Port* most_due(SteadyTime now);
  std::optional<ModulePageRequest> next_page(Port& port);
  void begin_round(Port& port, SteadyTime now);
  void forget_module(Port& port);
  void take_bytes(Port& port, const ModulePageRequest& page,
                  const std::vector<std::uint8_t>& bytes);
  void take_error(Port& port, const ModulePageRequest& page, const Error& error, SteadyTime now);
  void pass_over(Port& port, const ModulePageRequest& page, int errnum, SteadyTime now) const;
  void take_proof(Port& port, SteadyTime now);
  void end_absent(Port& port, SteadyTime now);
  void end_failed(Port& port, const Error& error, SteadyTime now);
  void end_good(Port& port, SteadyTime now);
  static std::optional<ModuleImage> read_so_far(const Port& port);
  void keep_unseen_flags(Port& port) const;
  void doubt(Port& port, const ModuleSample& sample, SteadyTime now) const;
  void finish(Port& port, std::optional<ModuleSample> sample, std::optional<Gap> gap);
  void set_due(Port& port, SteadyTime now, Milliseconds wait) const;
  [[nodiscard]] Milliseconds back_off(int failures) const;

  ModuleTiming timing_;
  std::vector<Port> ports_;
  std::vector<ModuleRound> finished_;
  WallTime wall_;           ///< of the last answer
  SteadyTime quiet_until_;  ///< others get the lock until then
};

}  // namespace linkhealth
