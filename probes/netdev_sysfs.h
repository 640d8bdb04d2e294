// A netdev's link and statistics from /sys/class/net/DEV (linux: net/core/net-sysfs.c): what is
// left when there is no netlink, such as in a copied /sys tree. On a live node rtnetlink says the
// same in one request for all ports.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/snapshot.h"
#include "probes/carrier.h"
#include "probes/host.h"
#include "probes/inventory.h"
#include "probes/kept_files.h"

namespace linkhealth {

class NetdevReader {
 public:
  /// The speed file is answered under the kernel's RTNL lock (speed_show: the read spins until it
  /// is free), which a slow module read holds for seconds. Without it no read of this class waits
  /// for that lock (see probes/carrier.h), but for a driver without an operstate, whose carrier
  /// file is read once.
  enum class Speed : std::uint8_t { kSkip, kRead };

  /// An Error when the netdev's directory is not there. REQUIRES: `host` outlives the reader.
  static Result<NetdevReader> open(Host& host, const InventoryPort& port,
                                   Speed speed = Speed::kRead);

  /// Reads of many ports that are made together before each takes its own.
  using LinkReads = KeptReads<64, 64>;
  static constexpr std::size_t kAhead = 2;  ///< so many of a port
  /// Adds to `reads` what the next read_link() reads in any case. REQUIRES: they are made before
  /// that call, and last until its end.
  void begin_link(LinkReads& reads);
  /// Fills admin_up, carrier, speed_mbps, mtu_bytes and the carrier counts of `said`, which is made
  /// for them; a gap (probe "link") when some can't be read. While the port is set down the kernel
  /// answers EINVAL to carrier and speed: carrier is false then, and speed absent without a gap.
  /// The MTU is read after a change of the carrier and each 30th time, and else the one before.
  ReadStatus read_link(std::optional<LinkSample>& said, std::vector<Gap>& gaps);
  /// Adds statistics/* as netdev_*; a gap (probe "netdev_stats") when some can't be read.
  ReadStatus read_statistics(PortSample& sample, std::vector<Gap>& gaps);

 private:
  enum File : std::uint8_t {
    kFlags,
    kCarrier,
    kSpeed,
    kMtu,
    kCarrierUpCount,
    kCarrierDownCount,
    kOperState,
    kFileCount
  };

  NetdevReader(Host& host, const InventoryPort& port, Speed speed);
  using Text = std::array<char, 128>;
  /// The text, in `buffer` or in what was read ahead; nullopt when left alone or failed.
  /// `absent_errnum` is a value here, not a failure.
  std::optional<std::string_view> read_text(File which, Text& buffer, int absent_errnum = 0);
  std::optional<std::uint64_t> read_number(File which, int absent_errnum = 0);
  bool is_gone();
  [[nodiscard]] bool may_have_stayed() const;
  std::optional<bool> follow_carrier(std::uint64_t ups, std::uint64_t downs, bool set_down,
                                     bool now_and_then);
  /// With the first read of them: of the two readers of a port one never reads any.
  void find_statistics();

  Host* host_;
  PortKey key_;
  std::string dir_;
  Speed speed_;
  KeptFiles files_;  // in the order of File
  const LinkReads* link_reads_ = nullptr;
  std::array<std::optional<std::uint8_t>, kFileCount>
      ahead_;  ///< by file: its number in link_reads_, until it is taken
  CounterFiles statistics_;
  std::string no_statistics_;
  bool statistics_found_ = false;
  CarrierFollower follower_;
  bool carrier_ = false;  ///< at the last read
  bool settled_ = false;  ///< and since the one before it the carrier was not lost
  std::optional<std::uint64_t> ups_, downs_, mtu_;
  unsigned mtu_rests_ = 0;
  bool gone_ = false;  // for ever: kept files of a device that has gone stay dead
};

}  // namespace linkhealth
