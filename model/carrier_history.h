// What is remembered of a port's carrier: transitions, losses and whether they were planned, what
// people and reboots did at the port, and the best speed that the link had.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace linkhealth {

struct CarrierLoss {
  SteadyTime t;
  std::uint64_t count = 1;
  bool planned = false;  ///< by an administrator, a reboot, a driver reload, a hand at the module
  double down_s = 0;     ///< until the carrier came back; 0: not yet, or not known
  WallTime at{};
};

struct CarrierHistory {
  std::optional<bool> up;           ///< nullopt: never known
  std::optional<SteadyTime> since;  ///< last transition; nullopt: none seen
  bool was_up = false;              ///< once since the monitor started
  /// When it was up last, maybe in an earlier run: not longer ago than IntentTimes::used_s.
  std::optional<WallTime> last_up_at;
  /// Since when it is LinkUp and not ACTIVE: InfiniBand without a subnet manager.
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
  /// Since when the link is what it is now: after a hand, a reboot, or a minute without carrier,
  /// old errors are past.
  std::optional<SteadyTime> fresh_since;
  /// When the fibre was mated again: the light came back, or the carrier after a minute without.
  /// Error ratios from before do not hold.
  std::optional<SteadyTime> mated_at;

  /// Unplanned losses in the last `window_s`.
  [[nodiscard]] std::uint64_t unplanned_losses(SteadyTime now, double window_s) const;
  /// When the last of them was, however long ago.
  [[nodiscard]] std::optional<WallTime> last_unplanned_loss_at() const;
};

}  // namespace linkhealth
