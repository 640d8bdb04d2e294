// The history of the module at one end of the cable: light, bias, temperature and supply voltage
// against their baselines.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/history/baseline.h"
#include "model/history/drift.h"
#include "model/history/interval.h"
#include "model/snapshot.h"

namespace linkhealth {

inline constexpr double kDarkDbm = -40;  ///< the value shown for 0 mW

/// kDarkDbm for 0 mW and below, which have no logarithm.
double to_dbm(double milliwatt);

/// One value of a module, maybe of one lane: its baseline and the last readings of this up period.
struct LaneSeries {
  Baseline baseline;
  std::array<double, 3> recent{};  ///< newest first
  std::array<SteadyTime, 3> recent_at{};
  std::size_t recent_count = 0;

  using Since = std::optional<SteadyTime>;  ///< older readings are ignored; nullopt: none are

  void add_recent(double value, SteadyTime t);
  void forget_recent() { recent_count = 0; }
  /// Number of the recent readings that were taken since then.
  [[nodiscard]] std::size_t count_since(const Since& since) const;
  /// The median of the last three readings; with fewer, the last one.
  [[nodiscard]] std::optional<double> now(const Since& since = {}) const;
  /// How far now() is below the baseline; positive: light lost.
  [[nodiscard]] std::optional<double> below_baseline(const Since& since = {}) const;
  /// The same for the last reading alone.
  [[nodiscard]] std::optional<double> latest_below_baseline(const Since& since = {}) const;
};

/// The state of the link when a module was read.
struct LinkPhase {
  bool up = false;
  bool settled = false;  ///< up for long enough for the light to settle
  bool warm = false;     ///< up for long enough for the temperature to settle
};

/// What this host has disabled in its module, as the module's control bytes show. Bits.
enum HostHold : std::uint8_t {
  kLowPowerBySoftware = 1,  ///< CMIS LowPwrRequestSW; SFF-8636: power override, low power set
  kLowPowerByPin = 2,       ///< CMIS LowPwrAllowRequestHW in ModuleLowPwr
  kPowerClassOff = 4,       ///< SFF-8636: the module may need more power than the host allows
  kTransmittersOff = 8,     ///< OutputDisableTx, or the output is force-squelched
  kDataPathDown = 16,       ///< CMIS DPDeinit
};
/// nullopt: the module has none of these bytes. `link_lanes`: number of lanes that the link needs,
/// 0: unknown.
std::optional<std::uint8_t> host_holds(const ModuleSample& module, std::uint32_t link_lanes);

/// Whether the module's lanes receive a signal from this host (Tx LOS) and lock on it (Tx LOL).
struct HostSignal {
  bool known = false, lost = false, unlocked = false;  ///< on all lanes
};
HostSignal host_signal(const ModuleSample& module);

/// Tracks a module that leaves its cage and comes back. A technician does that once; if it happens
/// again within an hour, the module does it by itself.
class DropOuts {
 public:
  void removed(SteadyTime t, const std::string& serial);
  /// A module was read in the cage.
  void read(const std::string& serial, SteadyTime now);
  /// It is out, or was last out, by itself: no technician pulled it.
  [[nodiscard]] bool by_itself() const { return by_itself_; }
  /// Number of times by itself in the last `window_s`.
  [[nodiscard]] std::size_t count(SteadyTime now, double window_s) const;

 private:
  std::optional<SteadyTime> out_since_, last_;  ///< last_: the previous time it left and came back
  std::string serial_;                          ///< of the one that left
  bool by_itself_ = false;
  std::vector<SteadyTime> times_;  ///< by itself, newest last
};

struct ModuleHistory {
  using Lanes = std::array<LaneSeries, kMaxLanes>;
  Lanes rx_dbm, tx_dbm, bias_ma;
  std::size_t rx_lanes = 0, tx_lanes = 0;
  LaneSeries temperature_c, supply_v;
  std::string serial;
  std::string type, type_before;  ///< of this module and of the previous one; "" unknown
  std::optional<SteadyTime> serial_changed_at;
  std::optional<SteadyTime> read_at;  ///< when the values were read
  std::uint8_t held_while_up = 0;     ///< HostHold at the last reading with the link up
  /// Consecutive readings, with the link down, in which the module received no signal from this
  /// host. The flags of a single reading may still be latched from the carrier loss.
  std::size_t unheard_reads = 0;
  DropOuts drop_outs;

  /// A different serial clears the baselines. Returns whether it did.
  bool update_serial(const std::string& now_serial, SteadyTime now);
  void update_type(const ModuleSample& module, bool is_other);
  void update(const ModuleSample& module, const LinkPhase& link, SteadyTime now);
  /// The module can no longer be read; its baselines stay.
  void end_readings();
  /// Discards the lanes' readings of the last up period.
  void forget_recent_light();
  void clear_baselines();
  /// The largest loss of received light of any lane; nullopt: unknown.
  [[nodiscard]] std::optional<double> most_rx_lost_db(bool latest) const;

 private:
  void update_lane(std::size_t lane, const ModuleLane& read, const LinkPhase& link, SteadyTime now);

  std::size_t dark_reads_ = 0;  ///< in a row, on all lanes with the link up
  bool has_no_meters_ = false;  ///< all lanes have always read zero with the link up
};

/// Slow changes with the link up: of the lane with the least light, and of the laser with the
/// highest current.
struct Drifts {
  Drift rx_dbm, bias_ma, temperature_c, ber_log10;

  void update(const ModuleSample& module, WallTime now);
};

/// A page of zeros, which the driver reads without an error: SFF-8636 and CMIS modules return it
/// while they start. No real module is at 0 C and dark in both directions.
bool is_blank(const ModuleSample& module);

}  // namespace linkhealth
