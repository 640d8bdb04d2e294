// The InfiniBand class files of one port:
// /sys/class/infiniband/DEV/ports/N/{state,phys_state,rate}, counters/* and hw_counters/* (linux:
// drivers/infiniband/core/sysfs.c). The files are found once, at open, and then only read.
//
// A driver may have hw_counters of the whole device too, in DEV/hw_counters. mlx5 in switch mode
// has its queue, congestion and ICRC counters only there ("essentially the real Q_counters of this
// device", mlx5_ib_alloc_counters in drivers/infiniband/hw/mlx5/counters.c): a port has the same
// names with "vport_", which stay zero for the port with the cable
// (mlx5_ib_query_q_counters_vport), or none. They are one port's only where its device has no other
// port with a cable; those of a device that is left out (efa's commands) are its port's where it
// has one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/inventory.h"
#include "probes/kept_files.h"

namespace linkhealth {

/// What is read together; each group may have its own period.
enum class IbGroup : std::uint8_t {
  kState,   ///< state, phys_state and rate: each a query of the port, up to five firmware commands
            ///< on mlx5
  kPma,     ///< counters/: one firmware command each on mlx5
  kHw,      ///< hw_counters/: one refresh for all while read in one burst (10 ms lifespan)
  kDevice,  ///< the device's hw_counters/ that the port does not have, likewise
};

struct IbRate {
  std::uint32_t speed_mbps = 0;
  std::uint32_t lanes = 0;
};

/// state and phys_state of a port, where they are read in one go with its counters.
struct StateReads {
  static constexpr std::size_t kLongest = 128;
  std::array<DescriptorRead, CounterFiles::kBeside> reads;
  std::array<std::array<char, kLongest>, CounterFiles::kBeside>
      texts;  // NOLINT(*-member-init): filled by the reads
  bool made = false;
};

class IbPortReader {
 public:
  /// Finds the port's files. An Error when the port's directory is not there; missing or unreadable
  /// files are gaps of the reads. REQUIRES: `host` outlives the reader.
  static Result<IbPortReader> open(Host& host, const InventoryPort& port);

  /// Adds the group's values to `sample`, and to `gaps` one gap when something of it could not be
  /// read (probe "link", "counters" or "hw_counters"). kState fills state and phys_state; on
  /// InfiniBand also carrier, and on Ethernet where no interface says it, for the driver's states
  /// are those of the interface, wherever that is (linux: mlx5_query_port_roce(),
  /// bnxt_re_query_port(), irdma_query_port()): set down and fallen look alike. Speed and lanes
  /// come from the rate while the link is up (while it trains that file holds a stale or default
  /// rate), on Ethernet only where the sample has no speed yet, because soft devices and old
  /// kernels round it down. The rate is read when it is wanted and one of the states changed, and
  /// each sixth time, and else it is the one before.
  ReadStatus read(IbGroup group, PortSample& sample, std::vector<Gap>& gaps);
  /// kState of what was read ahead, or else of the files.
  ReadStatus read_state(const StateReads& ahead, PortSample& sample, std::vector<Gap>& gaps);
  /// kState for who has heard the two states from elsewhere, in the files' words: only the rate's
  /// file is read.
  void put_state(std::string state, std::string phys_state, PortSample& sample,
                 std::vector<Gap>& gaps);

  /// At most `budget` files of counters/, those that are most overdue, of equals those of damage.
  /// The first call reads every file, so that each counter has a value to count from. What was not
  /// due is not in the sample, and the last value stands. 0: every file each time, as kPma above,
  /// and in the same go those of the state into `state`, where it is given and they can be.
  ReadStatus read_due(std::size_t budget, SteadyTime now, PortSample& sample,
                      std::vector<Gap>& gaps, StateReads* state = nullptr);

  /// Whether the driver has such files, or nobody can look: what it does not have is not missing.
  [[nodiscard]] bool offers_counters() const { return !pma_.empty() || !no_counters_.empty(); }
  [[nodiscard]] bool offers_hw_counters() const {
    return !hw_.empty() || !device_.empty() || !no_hw_counters_.empty() ||
           !no_device_counters_.empty();
  }
  /// Whether the device has counters that are this port's: one request more on mlx5.
  [[nodiscard]] bool has_device_counters() const { return !device_.empty(); }
  /// Reads of counters/ files so far, each of which costs a firmware command on mlx5.
  [[nodiscard]] std::uint64_t costly_reads() const { return pma_.reads(); }

 private:
  IbPortReader(Host& host, const InventoryPort& port);
  void find_counters(const std::string& dir);
  void find_hw_counters();
  void find_device_counters();
  bool begin_state(StateReads& state) const;
  void reject_state(std::size_t file, std::string reason);
  void finish_state(std::optional<std::string> state, std::optional<std::string> phys_state,
                    PortSample& sample, std::vector<Gap>& gaps);
  void read_rate(bool same_state);
  void put_rate(LinkSample& link) const;
  ReadStatus read_counters(CounterFiles& files, const char* probe, const std::string& why_none,
                           PortSample& sample, std::vector<Gap>& gaps, StateReads* state = nullptr);
  /// A file of counters/ that waits for its turn.
  struct Turn {
    std::size_t index;
    double overdue;  ///< age in periods
  };
  std::vector<Turn> due_turns(SteadyTime now);
  /// Asks the state file: an ENODEV of it is the device's end.
  bool is_gone();
  template <typename Parse>
  auto take_state(std::size_t file, const std::optional<Result<std::string_view>>& read,
                  Parse parse);
  std::optional<std::string_view> take_state_text(
      std::size_t file, const std::optional<Result<std::string_view>>& text);

  // What each read looks at, side by side: after a second every cache line has to be fetched anew.
  Host* host_;
  bool infiniband_ = false;
  bool without_interface_ = false;  // of a watched port: it would say the carrier on Ethernet
  bool gone_ = false;               // for ever: kept files of a device that has gone stay dead
  bool read_once_ = false;          // read_due() was called
  unsigned rate_rests_ = 0;         // for so many reads more
  std::optional<IbRate> rate_;      // as last read
  /// Where state and phys_state can be read beside the counters; -1: they have to be looked at by
  /// themselves.
  std::array<int, CounterFiles::kBeside> state_descriptors_ = {-1, -1};
  KeptFiles state_files_;                     // state, phys_state, rate
  std::string no_counters_, no_hw_counters_;  // why a directory has none
  std::string no_device_counters_;  // why the device's are not this port's; "" also without any
  CounterFiles pma_, hw_, device_;
  std::optional<std::string> state_, phys_state_;
  PortKey key_;
  std::string dir_;
  std::string driver_;
  std::string device_dir_;
  std::size_t cabled_ports_ = 0;  ///< of the device
  bool exempt_ = false;
  bool device_failed_ = false;  ///< the device's directory could not be listed: it is tried again
  std::vector<std::optional<SteadyTime>> last_read_;  // of each file of pma_
  std::vector<bool> damage_;  // of each: it counts damage, so its turn comes first among equals
};

/// How often a file of counters/ is worth a firmware command when the budget allows it; those that
/// tell of damage on this link first, what other sources tell too (packets: netdev statistics)
/// last.
Milliseconds pma_period(std::string_view counter);

/// "4: ACTIVE" -> "ACTIVE"; nullopt for anything else.
std::optional<std::string> parse_state(std::string_view text);

/// "400 Gb/sec (4X NDR)" -> 400000, 4; "2.5 Gb/sec (1X SDR)" -> 2500, 1. nullopt for anything else.
std::optional<IbRate> parse_rate(std::string_view text);

}  // namespace linkhealth
