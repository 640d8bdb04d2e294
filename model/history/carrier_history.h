// The carrier history of a port: transitions, losses and whether they were planned, interventions
// and reboots, and the best speed of the link.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// One time on both clocks.
struct Instant {
  SteadyTime t;
  WallTime wall;
  [[nodiscard]] WallTime wall_at(SteadyTime other) const { return wall - (t - other); }
};

/// Time limits: how long before and after an event losses count as planned, how long an unused link
/// is expected, how long a subnet manager may take, and how long a card's error counts although the
/// card works.
struct IntentTimes {
  double boot_quiet_s = 300, before_s = 100, after_s = 200;
  double used_s = 7 * 86400.0;
  double manager_s = 120;
  double mended_s = 600;
};

struct CarrierLoss {
  SteadyTime t;
  std::uint64_t count = 1;
  bool planned = false;  ///< by an administrator, a reboot, a driver reload, a module swap
  double down_s = 0;     ///< until the carrier came back; 0: not yet, or not known
  WallTime at{};
};

/// THE count of link downs. Its sources are read at different times and report the same link downs:
/// the largest count is used, so that nothing counts twice.
class LinkDownCount {
 public:
  enum Source : std::uint8_t {
    kTransitions,   ///< events, and changes of the carrier between readings
    kCarrierCount,  ///< the kernel's carrier_down_count
    kPortCounter,   ///< link_downed of InfiniBand, which has no carrier count
  };
  /// Adds a source's increase since its last report. Returns the number of new link downs.
  std::uint64_t add(Source source, std::uint64_t increase) {
    const std::uint64_t before = total_;
    total_ = std::max(total_, reported_[source] + increase);
    reported_[source] = total_;
    return total_ - before;
  }

 private:
  std::uint64_t total_ = 0;
  std::array<std::uint64_t, 3> reported_{};  ///< the total at each source's last report
};

class CarrierHistory {
 public:
  std::optional<bool> up;           ///< nullopt: never known
  std::optional<SteadyTime> since;  ///< last transition; nullopt: none seen
  bool since_is_exact = false;      ///< known from an event, not from the next reading
  bool was_up = false;              ///< at least once since the monitor started
  /// When it was last up, possibly in an earlier run; forgotten after IntentTimes::used_s.
  std::optional<WallTime> last_up_at;
  /// Since when it has been LinkUp but not ACTIVE: InfiniBand without a subnet manager.
  std::optional<SteadyTime> unmanaged_since;
  std::vector<CarrierLoss> losses;  ///< newest last, 24 h
  /// The last unplanned one before these, maybe in an earlier run.
  std::optional<WallTime> loss_before_at;
  std::uint64_t unplanned_total = 0, planned_total = 0;
  /// As exported: a counter that never decreases. A loss that turns out to be planned is
  /// compensated at the next unplanned loss.
  std::uint64_t unplanned_exported = 0;
  std::optional<SteadyTime> last_loss, admin_event_at, module_event_at, reboot_at;
  std::uint32_t best_speed_mbps = 0, best_lanes = 0;
  std::string last_fec;  ///< the FEC mode of the last link; "" unknown
  /// Errors count from this time on: an intervention, a reboot or a minute without carrier makes
  /// older ones obsolete.
  std::optional<SteadyTime> fresh_since;
  /// When the fibre was mated again: the light came back, or the carrier came back after a minute.
  /// Older error ratios are obsolete.
  std::optional<SteadyTime> mated_at;
  IntentTimes times;

  // --- questions
  /// Unplanned losses in the last `window_s`.
  [[nodiscard]] std::uint64_t unplanned_losses(SteadyTime now, double window_s) const;
  /// The last unplanned loss, however long ago.
  [[nodiscard]] std::optional<WallTime> last_unplanned_loss_at() const;
  /// The link is up, but no subnet manager has made the port ACTIVE within manager_s.
  [[nodiscard]] bool is_shut_out(SteadyTime now) const;
  /// Up for 5 s: by then the module's power meters have settled.
  [[nodiscard]] bool is_settled(SteadyTime now) const;

  // --- updates
  /// Counts the new link downs that `link` shows. `now_up`: its carrier.
  std::uint64_t count_downs(const LinkSample& link, std::optional<bool> now_up,
                            std::string_view driver);
  /// The same for a carrier loss that an event reports, or an increase of link_downed.
  std::uint64_t count_downs(LinkDownCount::Source source, std::uint64_t increase) {
    return downs_.add(source, increase);
  }
  [[nodiscard]] bool has_carrier_count() const { return last_down_count_.has_value(); }
  /// `is_set_down`: administratively down, so that the losses are planned.
  void add_losses(SteadyTime t, std::uint64_t count, bool is_set_down, const Instant& now);
  /// Returns whether earlier readings of the link are obsolete: a new link, or the first one after
  /// a long time without carrier.
  bool transition(bool now_up, SteadyTime t);
  void update_state(const LinkSample& link, std::string_view link_layer, const Instant& now);
  /// Carrier counts also rise when a driver reconfigures the port (rings, channels, MTU, XDP:
  /// linux, mlx5e_switch_priv_channels(), bnxt_close_nic()). The PHY counts the real link downs:
  /// losses during which its count did not rise are planned.
  void compare_with_phy(const Counters& reading, SteadyTime now);
  /// An intervention, a reboot or a driver reload at `t`: losses around it are planned.
  void plan(SteadyTime t);
  void plan_losses_since(SteadyTime since);
  void note_mated(SteadyTime t);
  /// The counters of driver and card restart at zero.
  void forget_counts();
  void forget_old(SteadyTime now);

 private:
  struct PhyCount {
    CounterId id;
    std::uint64_t count;
    SteadyTime since;  ///< not changed since
  };
  void plan(CarrierLoss& loss);
  [[nodiscard]] bool is_planned(SteadyTime t) const {
    return planned_until_ && t <= *planned_until_;
  }

  LinkDownCount downs_;
  std::optional<std::uint64_t> last_down_count_, last_up_count_;
  std::optional<PhyCount> phy_;
  std::optional<SteadyTime> planned_until_;
};

}  // namespace linkhealth
