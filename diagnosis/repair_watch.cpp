#include "diagnosis/repair_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace linkhealth {

namespace {

enum Index : std::size_t { kSettled, kPatience, kLightChange };
constexpr Knob kKnobs[] = {
    {"settled_s", 60, 5, 3600, "s", "how long a link must be back before what changed is measured"},
    {"patience_s", 900, 60, 86400, "s",
     "how long to wait for the module and the errors to be read after a repair"},
    {"light_change_db", 0.5, 0.1, 6, "dB",
     "light that comes back changed by so much was touched: remating alone moves it by 0.3 dB"}};

bool since(const std::optional<SteadyTime>& event, SteadyTime begin) {
  return event && *event >= begin;
}

std::optional<std::size_t> weakest(const std::array<std::optional<double>, kMaxLanes>& lanes) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] && (!found || *lanes[i] < *lanes[*found])) found = i;
  return found;
}

/// The error ratio of the link that came back: `view.signal` still has the minutes before in it.
std::optional<double> ber_after(const PortView& view, SteadyTime back) {
  constexpr std::size_t kEnough = 3;
  std::vector<double> values;
  for (const Interval& interval : view.port.counters.intervals)
    if (interval.clean && interval.begin >= back && !std::isnan(interval.ber))
      values.push_back(interval.ber);
  if (values.size() < kEnough) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::span<const Knob> RepairWatch::knobs() { return kKnobs; }

RepairWatch::Look RepairWatch::look(const PortView& view) {
  Look look;
  for (std::size_t i = 0; i < std::min(view.port.own.rx_lanes, kMaxLanes); ++i)
    look.rx_dbm[i] = view.port.own.rx_dbm[i].now();
  look.ber = view.signal.ber;
  look.serial = view.port.own.serial;
  look.far_serial = view.port.far.serial;
  return look;
}

void RepairWatch::note_outage(const PortView& view) {
  if (!outage_) outage_ = Outage{view.port.carrier.since.value_or(view.now), false, false};
  const auto& module = view.port.latest.module;
  if (module && !module->present && since(view.port.own.read_at, outage_->begun))
    outage_->module_out = true;
  if (since(view.port.carrier.module_event_at, outage_->begun)) outage_->module_out = true;
  if (view.light.rx_fresh && view.light.rx_dark_all) outage_->dark = true;
}

std::optional<RepairRecord> RepairWatch::step(const PortView& view, WallTime wall,
                                              KnobValues knobs) {
  if (view.down) {
    note_outage(view);
    return std::nullopt;
  }
  if (!view.up) return std::nullopt;
  // An outage between two looks leaves only its traces.
  if (!outage_ && before_ && view.port.carrier.last_loss && view.port.carrier.since &&
      in_seconds(view.now - *view.port.carrier.since) < knobs[kSettled])
    outage_ = Outage{*view.port.carrier.last_loss, false, false};
  if (!outage_) {
    before_ = look(view);
    return std::nullopt;
  }
  note_outage(view);
  const SteadyTime back = view.port.carrier.since.value_or(outage_->begun);
  const double up_s = in_seconds(view.now - back);
  const bool read = since(view.port.own.read_at, back) && ber_after(view, back).has_value();
  if (up_s < knobs[kSettled] || (!read && up_s < knobs[kPatience])) return std::nullopt;
  auto record = before_ ? judge(view, wall, knobs) : std::nullopt;
  if (record) record->at = wall - (view.now - back);
  before_ = look(view);
  outage_.reset();
  return record;
}

std::optional<RepairRecord> RepairWatch::judge(const PortView& view, WallTime /*wall*/,
                                               KnobValues knobs) const {
  Look after = look(view);
  after.ber = ber_after(view, view.port.carrier.since.value_or(outage_->begun));
  RepairRecord record;
  bool light_moved = false;
  for (std::size_t i = 0; i < kMaxLanes; ++i)
    if (before_->rx_dbm[i] && after.rx_dbm[i] &&
        std::abs(*before_->rx_dbm[i] - *after.rx_dbm[i]) >= knobs[kLightChange])
      light_moved = true;
  const auto swapped = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
  };
  if (swapped(before_->serial, after.serial)) {
    record.action = RepairAction::kModuleReplaced;
    record.serial_before = before_->serial;
    record.serial_after = after.serial;
  } else if (swapped(before_->far_serial, after.far_serial)) {
    record.action = RepairAction::kFarModuleReplaced;
    record.serial_before = before_->far_serial;
    record.serial_after = after.far_serial;
  } else if (outage_->module_out) {
    record.action = RepairAction::kModuleReseated;
  } else if (since(view.port.carrier.reboot_at, outage_->begun)) {
    record.action = RepairAction::kNodeRebooted;
  } else if (since(view.port.device.driver_reload_at, outage_->begun)) {
    record.action = RepairAction::kDriverReloaded;
  } else if (light_moved) {
    record.action = RepairAction::kFibreReseated;
  } else if (since(view.port.carrier.admin_event_at, outage_->begun)) {
    record.action = RepairAction::kPortBounced;
  } else {
    return std::nullopt;  // it came back as it went: nobody did anything that can be seen
  }
  if (const auto lane = weakest(before_->rx_dbm)) {
    record.rx_lane = static_cast<std::uint32_t>(*lane + 1);
    record.rx_power_before_dbm = before_->rx_dbm[*lane];
    record.rx_power_after_dbm = after.rx_dbm[*lane];
  }
  record.pre_fec_ber_before = before_->ber;
  record.pre_fec_ber_after = after.ber;
  return record;
}

}  // namespace linkhealth
