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

inline constexpr double kDarkDbm = -40;  ///< what 0 mW prints as

/// kDarkDbm for 0 mW and less: no light has no logarithm.
double to_dbm(double milliwatt);

/// One value of a module, maybe of one lane: its baseline and the last readings of this up period.
struct LaneSeries {
  Baseline baseline;
  std::array<double, 3> recent{};  ///< newest first
  std::array<SteadyTime, 3> recent_at{};
  std::size_t recent_count = 0;

  using Since = std::optional<SteadyTime>;  ///< older readings take no part; nullopt: all do

  void add_recent(double value, SteadyTime t);
  void forget_recent() { recent_count = 0; }
  /// How many of the recent readings were taken since then.
  [[nodiscard]] std::size_t count_since(const Since& since) const;
  /// The median of the last three readings; of fewer, the last one.
  [[nodiscard]] std::optional<double> now(const Since& since = {}) const;
  /// How far now() is below the baseline; positive: lost.
  [[nodiscard]] std::optional<double> below_baseline(const Since& since = {}) const;
  /// The same of the last reading alone.
  [[nodiscard]] std::optional<double> latest_below_baseline(const Since& since = {}) const;
};

/// The state of the link when a module was read.
struct LinkPhase {
  bool up = false;
  bool settled = false;  ///< long enough for the light to stand
  bool warm = false;     ///< long enough for the temperature to stand
};

/// What this host did to its module, by the module's own control bytes. Bits.
enum HostHold : std::uint8_t {
  kLowPowerBySoftware = 1,  ///< CMIS LowPwrRequestSW; SFF-8636: power override, low power set
  kLowPowerByPin = 2,       ///< CMIS LowPwrAllowRequestHW in ModuleLowPwr
  kPowerClassOff = 4,       ///< SFF-8636: it may need more than the host allows
  kTransmittersOff = 8,     ///< OutputDisableTx, or the output is squelched by force
  kDataPathDown = 16,       ///< CMIS DPDeinit
};
/// nullopt: the module gives none of these bytes. `link_lanes`: how many lanes the link needs, 0:
/// not known.
std::optional<std::uint8_t> host_holds(const ModuleSample& module, std::uint32_t link_lanes);

/// Whether the lanes get a signal from this host (Tx LOS), and lock on it (Tx LOL).
struct HostSignal {
  bool known = false, lost = false, unlocked = false;  ///< of all lanes
};
HostSignal host_signal(const ModuleSample& module);

/// When the module left its cage and the same one came back. A hand does that once; what happens
/// again within an hour the module does by itself.
class DropOuts {
 public:
  void removed(SteadyTime t, const std::string& serial);
  /// A module was read in the cage.
  void read(const std::string& serial, SteadyTime now);
  /// It is out, or was out last, by itself: nobody's work.
  [[nodiscard]] bool by_itself() const { return by_itself_; }
  /// How often by itself in the last `window_s`.
  [[nodiscard]] std::size_t count(SteadyTime now, double window_s) const;

 private:
  std::optional<SteadyTime> out_since_, last_;  ///< last_: when it left before and came back
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
  std::string type, type_before;  ///< of this module and of the one before; "" not known
  std::optional<SteadyTime> serial_changed_at;
  std::optional<SteadyTime> read_at;  ///< when the values were true
  std::uint8_t held_while_up = 0;     ///< HostHold at the last reading of a link that carried
  /// Readings in a row, of a link that is down, in which the module got no signal from this host:
  /// the flags of one reading may be latched from the fall.
  std::size_t unheard_reads = 0;
  DropOuts drop_outs;

  /// Another serial than before clears the baselines. Returns whether it did.
  bool update_serial(const std::string& now_serial, SteadyTime now);
  void update_type(const ModuleSample& module, bool is_other);
  void update(const ModuleSample& module, const LinkPhase& link, SteadyTime now);
  /// The module can't be read any more; its baselines stay.
  void end_readings();
  /// Forgets the lanes' readings of an up period that is over.
  void forget_recent_light();
  void clear_baselines();
  /// The largest loss of received light of any lane; nullopt: not known.
  [[nodiscard]] std::optional<double> most_rx_lost_db(bool latest) const;

 private:
  void update_lane(std::size_t lane, const ModuleLane& read, const LinkPhase& link, SteadyTime now);

  std::size_t dark_reads_ = 0;  ///< in a row, on all lanes of a link that carries
  bool has_no_meters_ = false;  ///< all lanes of a link that is up have always read zero
};

/// Slow changes of a link that carries: of the lane with the least light, and of the laser with the
/// most current.
struct Drifts {
  Drift rx_dbm, bias_ma, temperature_c, ber_log10;

  void update(const ModuleSample& module, WallTime now);
};

/// A page of zeros: no module is at 0 C and dark at both ends, while the driver reads it without an
/// error (SFF-8636 and CMIS modules answer so while they start).
bool is_blank(const ModuleSample& module);

}  // namespace linkhealth
