#include "diagnosis/repair_watch.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace linkhealth {

namespace {

constexpr double kSettledS = 60;    // time that a link must be back before it is measured
constexpr double kPatienceS = 900;  // time to read the module and the errors after a repair
/// A fibre whose light changed by this much was touched: mating again alone changes it by 0.3 dB
/// (docs/physics.md 7d).
constexpr double kLightChangeDb = 0.5;

bool since(const std::optional<SteadyTime>& event, SteadyTime begin) {
  return event && *event >= begin;
}

std::optional<std::size_t> weakest(const std::array<std::optional<double>, kMaxLanes>& lanes) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] && (!found || *lanes[i] < *lanes[*found])) found = i;
  return found;
}

/// The error ratio after the link came back: the features still include the minutes before.
std::optional<double> ber_after(const Features& f, SteadyTime back) {
  constexpr std::size_t kEnough = 3;
  std::vector<double> values;
  for (const Interval& interval : f.port.counters.intervals)
    if (interval.clean && interval.begin >= back && !std::isnan(interval.ber))
      values.push_back(interval.ber);
  if (values.size() < kEnough) return std::nullopt;
  return upper_median(values);
}

}  // namespace

RepairWatch::Look RepairWatch::look(const Features& f) {
  Look look;
  for (std::size_t i = 0; i < std::min(f.port.own.rx_lanes, kMaxLanes); ++i)
    look.rx_dbm[i] = f.port.own.rx_dbm[i].now();
  look.ber = f.signal.ber;
  look.serial = f.port.own.serial;
  look.far_serial = f.port.far.serial;
  return look;
}

void RepairWatch::note_outage(const Features& f) {
  if (!outage_) outage_ = Outage{f.port.carrier.since.value_or(f.now), false};
  const auto& module = f.port.latest.module;
  if (module && !module->present && !f.port.own.drop_outs.by_itself() &&
      since(f.port.own.read_at, outage_->begun))
    outage_->module_out = true;
  if (since(f.port.carrier.module_event_at, outage_->begun)) outage_->module_out = true;
}

std::optional<RepairRecord> RepairWatch::step(const Features& f, WallTime wall) {
  if (f.down) {
    note_outage(f);
    return std::nullopt;
  }
  if (!f.up) return std::nullopt;
  // An outage between two looks is only visible by its traces.
  if (!outage_ && before_ && f.port.carrier.last_loss && f.port.carrier.since &&
      in_seconds(f.now - *f.port.carrier.since) < kSettledS)
    outage_ = Outage{*f.port.carrier.last_loss, false};
  if (!outage_) {
    before_ = look(f);
    return std::nullopt;
  }
  note_outage(f);
  const SteadyTime back = f.port.carrier.since.value_or(outage_->begun);
  const double up_s = in_seconds(f.now - back);
  const bool read = since(f.port.own.read_at, back) && ber_after(f, back).has_value();
  if (up_s < kSettledS || (!read && up_s < kPatienceS)) return std::nullopt;
  auto record = before_ ? judge(f) : std::nullopt;
  if (record) record->at = wall - (f.now - back);
  before_ = look(f);
  outage_.reset();
  return record;
}

std::optional<RepairRecord> RepairWatch::judge(const Features& f) const {
  Look after = look(f);
  after.ber = ber_after(f, f.port.carrier.since.value_or(outage_->begun));
  RepairRecord record;
  bool light_moved = false;
  for (std::size_t i = 0; i < kMaxLanes; ++i)
    if (before_->rx_dbm[i] && after.rx_dbm[i] &&
        std::abs(*before_->rx_dbm[i] - *after.rx_dbm[i]) >= kLightChangeDb)
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
  } else if (since(f.port.carrier.reboot_at, outage_->begun)) {
    record.action = RepairAction::kNodeRebooted;
  } else if (since(f.port.device.driver_reload_at, outage_->begun)) {
    record.action = RepairAction::kDriverReloaded;
  } else if (light_moved) {
    record.action = RepairAction::kFibreReseated;
  } else if (since(f.port.carrier.admin_event_at, outage_->begun)) {
    record.action = RepairAction::kPortBounced;
  } else {
    return std::nullopt;  // it came back unchanged: no action can be inferred
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
