// Adding what a snapshot has for one port.
#include "model/history/history.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace linkhealth {

namespace {

constexpr double kLostDb = 1.5;  // more than a new mating (0.3 dB) and read noise
constexpr double kBackDb = 0.6;
constexpr double kWarmUpS = 900;  // ten time constants of a module (docs/physics.md 7d)
constexpr Setting kIntentSettings[] = {
    {"boot_quiet_s", 300, 0, 3600, "s",
     "link losses within this time after a boot count as planned"},
    {"before_s", 100, 0, 3600, "s",
     "link losses within this time before an intervention count as planned (events may be read "
     "late)"},
    {"after_s", 200, 0, 3600, "s",
     "link losses within this time after an intervention count as planned"},
    {"used_s", 604800, 0, 31536000, "s",
     "a port that had a link within this time before a restart is in use: its absence is reported"},
    {"manager_s", 120, 10, 3600, "s",
     "InfiniBand: a link not made ACTIVE by a subnet manager within this time counts as down (a "
     "sweep takes seconds, a failover up to a minute)"},
    {"mended_s", 600, 60, 86400, "s",
     "a card's fatal error ends when its link is up and its counters increase this long after it, "
     "or at once when the link recovered on its own (a card reset takes up to 2 min)"}};

bool is_intent(PortEventKind kind) {
  switch (kind) {
    case PortEventKind::kAdminDown:
    case PortEventKind::kAdminUp:
    case PortEventKind::kDeviceGone:
    case PortEventKind::kDeviceAdded:
    case PortEventKind::kModuleRemoved:
    case PortEventKind::kModuleInserted:
      return true;
    default:
      return false;
  }
}

/// Without a network interface, a RoCE port reports the same whether it was administratively down
/// (as when pods come and go) or its link went down.
bool may_be_set_down(const LinkSample& link, std::string_view link_layer) {
  return is_set_down(link, link_layer) ||
         (link_layer == "Ethernet" && !link.admin_up && !link.carrier_down_count &&
          link.phys_state == "Disabled");
}

std::optional<bool> carrier_of(const LinkSample& link) {
  if (link.carrier) return link.carrier;
  if (!link.phys_state.empty()) return has_link(link.phys_state);
  if (!link.state.empty()) return link.state == "ACTIVE";
  return std::nullopt;
}

}  // namespace

bool fec_is_on(std::string_view fec) {
  return !fec.empty() && fec != "Off" && fec != "None" && fec != "off";
}

std::span<const Setting> intent_settings() { return kIntentSettings; }

double PortHistory::speed_mbps() const {
  const bool is_known = latest.link && latest.link->speed_mbps && *latest.link->speed_mbps > 0;
  return is_known ? *latest.link->speed_mbps : carrier.best_speed_mbps;
}

double PortHistory::line_rate_bps() const { return linkhealth::line_rate_bps(speed_mbps(), fec()); }

std::string_view PortHistory::fec() const {
  constexpr double kPam4LaneMbps = 50'000;
  const std::string_view reported =
      latest.link ? std::string_view(latest.link->fec) : std::string_view();
  if (!reported.empty() && reported != "RS") return reported;
  const std::uint32_t lanes =
      latest.link && latest.link->lanes ? *latest.link->lanes : carrier.best_lanes;
  // If the number of lanes is unknown: no port of 200 Gb/s and more has lanes of 25 Gb/s.
  if (lanes > 0 ? speed_mbps() / lanes >= kPam4LaneMbps : speed_mbps() >= 4 * kPam4LaneMbps)
    return "RS544";
  return !reported.empty() || counters.corrects ? "RS528" : reported;
}

// --- carrier

void PortHistory::note_before_loss() {
  before_loss = BeforeLoss();
  std::size_t found = 0;
  for (auto at = counters.intervals.rbegin(); at != counters.intervals.rend() && found < 3; ++at) {
    if (!at->clean) continue;
    const double uncorrectable = at->increase(Indicator::kUncorrectableBlocks);
    if (!std::isnan(uncorrectable)) before_loss.uncorrectable += uncorrectable;
    if (std::isnan(at->ber)) continue;
    before_loss.ber = std::max(before_loss.ber, std::optional(std::max(at->ber, at->ber_floor)));
    ++found;
  }
  if (own.temperature_c.recent_count > 0) before_loss.temperature_c = own.temperature_c.recent[0];
  before_loss.rx_lost_db = own.most_rx_lost_db(false);
}

/// The interval in which the link went down is not clean, but it is the best evidence of the cause.
void PortHistory::note_loss_before_fall(const Interval& interval) {
  constexpr double kCodewordBits = 5440;  // RS(544); RS(528) has 5280
  const auto& fell = carrier.last_loss;
  const double lost = interval.increase(Indicator::kUncorrectableBlocks);
  if (!fell || *fell <= interval.begin || *fell > interval.end || !(lost > 0)) return;
  before_loss.all_lost_s = lost * kCodewordBits / interval.line_rate_bps;
}

/// If errors were the reason to swap the module, the new one must be as good as the link was before
/// them (within a factor of ten: the usual test of a repair in the field). Otherwise a swap that
/// did not help would become the new baseline.
bool PortHistory::was_bad_before_loss() const {
  constexpr double kDecade = 1;
  const auto normal = counters.ber_log10.lower_quartile();
  return normal && before_loss.ber && carrier.last_loss &&
         std::log10(*before_loss.ber) > *normal + kDecade;
}

/// The link is back: its errors show how well it trained.
void PortHistory::note_training() {
  const auto usual = counters.ber_log10.lower_quartile();
  if (carrier.losses.empty() || (!usual && !before_loss.ber)) return;
  // Another module has errors of its own.
  if (own.serial_changed_at && carrier.last_loss && *own.serial_changed_at > *carrier.last_loss)
    return;
  // Errors that rose before the carrier loss are not due to the training.
  const double before = std::max(usual ? std::pow(10.0, *usual) : 0, before_loss.ber.value_or(0));
  const CarrierLoss& loss = carrier.losses.back();
  trainings.begin(loss.at, loss.down_s, before);
}

void PortHistory::add_losses(SteadyTime t, std::uint64_t count, const Instant& now) {
  const bool set_down = latest.link && is_set_down(*latest.link, latest.id.link_layer);
  carrier.add_losses(t, count, set_down, now);
}

void PortHistory::set_carrier(bool up, SteadyTime t) {
  if (carrier.up == up) return;
  if (up) forget_absent_module();
  if (carrier.up == true) note_before_loss();
  const bool was_down = carrier.up == false;
  const bool is_new = carrier.transition(up, t);
  if (up && was_down) note_training();
  // Readings from before a short flap are still valid; those taken while it was dark are not.
  if (!up || !(is_new || read_while_down_)) return;
  read_while_down_ = false;
  forget_recent_light();
}

void PortHistory::forget_recent_light() {
  own.forget_recent_light();
  far.forget_recent_light();
}

/// An event or a carrier contradicts an earlier reading of an empty cage: the module is unknown.
void PortHistory::forget_absent_module() {
  cage_empty = false;
  if (latest.module && !latest.module->present) latest.module.reset();
}

void PortHistory::update(const PortEvent& event, const Instant& now) {
  if (event.kind == PortEventKind::kModuleRemoved) own.drop_outs.removed(event.t, own.serial);
  const bool of_module =
      event.kind == PortEventKind::kModuleRemoved || event.kind == PortEventKind::kModuleInserted;
  const bool is_work = is_intent(event.kind) && !(of_module && own.drop_outs.by_itself());
  if (is_work) carrier.plan(event.t);
  device.update(event);
  switch (event.kind) {
    case PortEventKind::kCarrierDown:
      add_losses(event.t, carrier.count_downs(LinkDownCount::kTransitions, 1), now);
      set_carrier(false, event.t);
      carrier.since_is_exact = carrier.since == event.t;
      break;
    case PortEventKind::kCarrierUp:
      set_carrier(true, event.t);
      carrier.since_is_exact = carrier.since == event.t;
      break;
    case PortEventKind::kAdminDown:
    case PortEventKind::kAdminUp:
      carrier.admin_event_at = event.t;
      if (latest.link) latest.link->admin_up = event.kind == PortEventKind::kAdminUp;
      if (event.kind == PortEventKind::kAdminUp)
        forget_recent_light();  // a port that is administratively down sends no light
      break;
    case PortEventKind::kModuleRemoved:
      if (is_work) carrier.module_event_at = event.t;
      if (latest.module) latest.module->present = false;
      break;
    case PortEventKind::kModuleInserted:
      if (is_work) carrier.module_event_at = event.t;
      cage_empty = false;
      forget_absent_module();
      // Without a serial it may be another module.
      if (own.serial.empty()) {
        own.clear_baselines();
        drifts = Drifts();
      }
      break;
    case PortEventKind::kDeviceAdded:
      forget_counts();
      break;
    default:
      break;
  }
}

void PortHistory::update_link(const LinkSample& link, const Instant& now) {
  const std::string& layer = latest.id.link_layer;
  const std::optional<bool> up = carrier_of(link);
  const std::uint64_t lost = carrier.count_downs(link, up, latest.id.driver);
  const bool was_set_down = latest.link && may_be_set_down(*latest.link, layer);
  const bool set_down = may_be_set_down(link, layer);
  if (set_down && !was_set_down) carrier.plan(now.t);
  latest.link = link;
  link_at = now.t;
  add_losses(now.t, lost, now);
  const auto& admin_at = carrier.admin_event_at;
  if (was_set_down && !set_down && (!admin_at || in_seconds(now.t - *admin_at) > 60)) {
    carrier.plan(now.t);  // the event was missed
    carrier.admin_event_at = now.t;
    forget_recent_light();
  }
  if (lost > 0 && carrier.up == true && up == true) {  // down and up between two readings
    note_before_loss();
    carrier.since = now.t;
    carrier.since_is_exact = false;
    note_training();
  }
  const auto before = carrier.since;
  if (up) set_carrier(*up, now.t);
  carrier.since_is_exact = carrier.since_is_exact && carrier.since == before;
  carrier.update_state(link, layer, now);
  if (carrier.up == true && (baseline_fec.empty() || !counters.ber_log10.ready()))
    baseline_fec = fec();
  device.end_fatal_before_start(carrier);
}

void PortHistory::update_reboot(SteadyTime now) {
  carrier.reboot_at = now;
  carrier.plan(now + from_seconds(carrier.times.boot_quiet_s - carrier.times.after_s));
  carrier.plan_losses_since(now - from_seconds(900));
  forget_counts();
}

/// Driver and card restart counting at zero, and may already be higher than before.
void PortHistory::forget_counts() {
  latest.counters.reset();
  rates_.forget();
  carrier.forget_counts();
  counters.forget_counts();
  device.forget_counts();
}

// --- counters

void PortHistory::update_counters(const PortSample& sample, const Instant& now) {
  const bool is_infiniband = latest.id.link_layer == "InfiniBand";
  const Increase increase = rates_.update(*sample.counters, now.t);
  if (carrier.has_carrier_count()) {
    carrier.compare_with_phy(*sample.counters, now.t);
  } else if (const double downs = increase.of(Indicator::kLinkDowns);
             is_infiniband && !std::isnan(downs)) {
    const auto count = static_cast<std::uint64_t>(downs);
    const auto unseen = carrier.count_downs(LinkDownCount::kPortCounter, count);
    add_losses(now.t, unseen, now);
    if (unseen > 0 && carrier.up == true) {  // down and up between two readings
      note_before_loss();
      note_training();
    }
  }
  if (!latest.counters) latest.counters.emplace();
  latest.counters->merge(*sample.counters);
  if (!sample.fec_lanes.empty()) latest.fec_lanes = sample.fec_lanes;
  counters.saturated = saturated_counters(*latest.counters);
  counters_at = now.t;
  // An exempt port is not judged, and a node may have hundreds of virtual functions.
  if (!latest.id.exempt.empty()) return;
  const Interval* complete =
      counters.add(increase, sample.fec_lanes, carrier, line_rate_bps(), now.t);
  if (complete == nullptr) return;
  note_loss_before_fall(*complete);
  if (complete->clean && !std::isnan(complete->ber))
    drifts.ber_log10.add(now.wall, std::log10(std::max(complete->ber, complete->ber_floor)));
  const bool was_worse = trainings.worse.has_value();
  if (complete->clean) trainings.add(*complete);
  // The last training cured it: the earlier error ratios are obsolete.
  if (was_worse && !trainings.worse) carrier.note_mated(carrier.since.value_or(complete->begin));
  device.end_fatal_if_alive(*complete, carrier, is_infiniband, counters.intervals);
}

// --- modules and the far end

/// The readings are no longer valid; the baselines stay.
void PortHistory::end_module() {
  latest.module.reset();
  own.end_readings();
}

void PortHistory::update_module(const ModuleSample& module, const Instant& now) {
  if (module == ModuleSample{}) return end_module();
  if (is_blank(module)) return;
  cage_empty = !module.present;
  had_module = had_module || module.present;
  if (module.present)
    own.drop_outs.read(module.serial, now.t);
  else if (had_module)
    own.drop_outs.removed(now.t, own.serial);
  const bool is_other = own.update_serial(module.serial, now.t);
  own.update_type(module, is_other);
  if (is_other) {
    trainings.clear();
    far.rx_dbm = {};  // it receives another laser now
    if (!was_bad_before_loss()) counters.clear_ber_baselines();
    drifts = Drifts();
    carrier.best_speed_mbps = carrier.best_lanes = 0;
  }
  if (module.present && !module.kind.empty() && module.kind != "unknown") medium_ = module.kind;
  latest.module = module;
  own.read_at = now.t;
  if (carrier.up == false) read_while_down_ = true;
  const double lost_db =
      std::max(own.most_rx_lost_db(false).value_or(0), before_loss.rx_lost_db.value_or(0));
  const auto up_s = in_seconds(now.t - carrier.since.value_or(first_seen));
  if (carrier.up == true) own.held_while_up = host_holds(module, carrier.best_lanes).value_or(0);
  const LinkPhase link{carrier.up == true, carrier.is_settled(now.t),
                       carrier.up == true && (!carrier.since || up_s >= kWarmUpS)};
  own.update(module, link, now.t);
  // The light is back: the fibre was cleaned or moved, and older errors are obsolete.
  if (link.up && lost_db > kLostDb && own.most_rx_lost_db(true).value_or(kLostDb) < kBackDb) {
    before_loss.rx_lost_db.reset();
    for (LaneSeries& lane : own.rx_dbm)
      lane.recent_count = std::min<std::size_t>(lane.recent_count, 1);
    carrier.note_mated(now.t);
  }
  if (link.settled) drifts.update(module, now.wall);
}

void PortHistory::update_peer(const PeerSample& sample, const Instant& now) {
  peer_recalled_ = false;
  if (sample == PeerSample{}) {  // nothing is known any more
    latest.peer.reset();
    peer_at.reset();
    return;
  }
  const PeerSample before = latest.peer ? *latest.peer : PeerSample{};
  peer_at = now.t - from_seconds(sample.age_s.value_or(0));
  latest.peer = sample;
  if (!sample.link && before.link && sample.source.empty()) latest.peer->link = before.link;
  if (sample.counters)
    peer.update(sample, part_read_at(sample, sample.counters_age_s, *peer_at), now.t);
  if (sample.module) update_far_module(sample, before.module == sample.module, now);
}

void PortHistory::update_far_module(const PeerSample& sample, bool says_the_same,
                                    const Instant& now) {
  if (far.update_serial(sample.module->serial, now.t)) {
    trainings.clear();
    own.rx_dbm = {};  // another laser sends
    drifts.rx_dbm.clear();
    drifts.ber_log10.clear();
  }
  const SteadyTime read_at =
      sample.module_age_s ? now.t - from_seconds(*sample.module_age_s) : *peer_at;
  if (is_same_reading(std::exchange(far.read_at, read_at), read_at, says_the_same)) return;
  // A reading from before the last transition is obsolete.
  const bool is_fresh = carrier.fresh_since && read_at >= *carrier.fresh_since;
  const bool this_period = !carrier.since || read_at >= *carrier.since ||
                           (carrier.up == true && is_fresh && !read_while_down_);
  if (!this_period) return;
  if (carrier.up == false) read_while_down_ = true;
  far.update(*sample.module, {carrier.up == true, carrier.is_settled(read_at), false}, read_at);
}

void PortHistory::update_pcie(const PcieSample& pcie, SteadyTime now) {
  latest.pcie = pcie;
  pcie_at = now;
  device.update(pcie, now);
}

// --- unreadable sources: a value becomes unknown `stale_after_s` after it was read, unless its
// source is ok. Otherwise a total that is no longer read would look like a link without errors, and
// a module's last powers like a good one's.

/// A source that another one stopped has no reason of its own: its values may still be fresh.
const SourceStatus* PortHistory::blind_to(SourceId source) const {
  if (!latest.sources) return nullptr;
  const auto at = latest.sources->find(source);
  if (at == latest.sources->end() || at->second.state == SourceState::kOk) return nullptr;
  const SourceStatus& status = at->second;
  return status.reason.empty() && !is_stale(source, status.since) ? nullptr : &status;
}

bool PortHistory::lacks_counters() const {
  constexpr double kFirstReadS = 60;  // readers may need some time for their first result
  const SourceStatus* status = blind_to(SourceId::kCounters);
  return status != nullptr && in_seconds(status->since - first_seen) <= kFirstReadS &&
         blind_to(SourceId::kLink) == nullptr && status->state != SourceState::kHung;
}

bool PortHistory::is_stale(SourceId source, SteadyTime read_at) const {
  return latest.sources && !is_ok(*latest.sources, source) &&
         in_seconds(now_ - read_at) >= source_info(source).stale_after_s;
}

void PortHistory::forget_stale(SteadyTime now) {
  now_ = now;
  if (!latest.sources || latest.sources->empty()) return;
  if (latest.module && own.read_at && is_stale(SourceId::kModule, *own.read_at)) end_module();
  if (latest.counters) forget_stale_counters();
}

void PortHistory::forget_stale_counters() {
  latest.counters->forget_known_if(
      [this](CounterId id) { return is_stale(source_of(id), rates_.read_at(id, SteadyTime{})); });
  // Read times are not kept for counters that the table does not know.
  latest.counters->forget_other_if([this](const auto& name) {
    const auto status = latest.sources->find(source_of_other(name));
    return status != latest.sources->end() && status->second.state != SourceState::kOk &&
           is_stale(status->first, status->second.since);
  });
  if (!counters.lanes_at) return;
  if (is_stale(SourceId::kFec, *counters.lanes_at) ||
      is_stale(SourceId::kDriverStats, *counters.lanes_at))
    latest.fec_lanes.clear();
}

void PortHistory::forget_old(SteadyTime now) {
  carrier.forget_old(now);
  counters.forget_old(now);
  peer.forget_old(now);
}

}  // namespace linkhealth
