#include "model/history.h"

#include <algorithm>
#include <cmath>

#include "model/kernel_log.h"

namespace linkhealth {

namespace {

constexpr double kIntervalKeepSeconds = 3600;
constexpr std::size_t kMaxIntervals = 512;
constexpr double kGapKeepSeconds =
    4000;  // more than the longest pause before a source is tried again
constexpr Knob kIntentKnobs[] = {
    {"boot_quiet_s", 300, 0, 3600, "s",
     "after a boot: links come up and drivers settle, that is nobody's fault"},
    {"before_s", 100, 0, 3600, "s",
     "a loss so long before a hand or an administrator is theirs: events may be read late"},
    {"after_s", 200, 0, 3600, "s", "and so long after"},
    {"used_s", 604800, 0, 31536000, "s",
     "a port that had a link so lately before a restart is missed: nobody left it unused"},
    {"manager_s", 120, 10, 3600, "s",
     "InfiniBand: a link that is up and that no subnet manager has made ACTIVE for so long is "
     "down; a sweep takes "
     "seconds, a failover up to a minute"},
    {"mended_s", 600, 60, 86400, "s",
     "an error that killed a card is past when its link carries and still counts what comes so "
     "long after; at once "
     "when the link fell and came back by itself. A card's own reset takes up to two minutes"}};

/// Probes whose success a snapshot shows: it has their group.
bool is_group(std::string_view probe) {
  constexpr std::string_view kGroups[] = {"link",   "counters", "hw_counters",
                                          "module", "peer",     "pcie"};
  return std::find(std::begin(kGroups), std::end(kGroups), probe) != std::end(kGroups);
}

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

/// The oldest entries, up to the first that is not older than `since`.
template <typename Entry>
void forget_before(std::vector<Entry>& list, SteadyTime since, SteadyTime Entry::*when) {
  list.erase(list.begin(),
             std::ranges::find_if(list, [&](const Entry& entry) { return entry.*when >= since; }));
}

}  // namespace

double to_dbm(double milliwatt) { return milliwatt > 1e-4 ? 10 * std::log10(milliwatt) : kDarkDbm; }

bool fec_is_on(std::string_view fec) {
  return !fec.empty() && fec != "Off" && fec != "None" && fec != "off";
}

std::span<const Knob> intent_knobs() { return kIntentKnobs; }

double line_rate_bps(double speed_mbps, std::string_view fec) {
  // 64b/66b and 256b/257b transcoding with RS(528) end at 1.03125, RS(544) at 1.0625 (IEEE 802.3
  // cl. 91, 119).
  return speed_mbps * 1e6 * (fec == "RS544" ? 1.0625 : 1.03125);
}

double PortHistory::speed_mbps() const {
  const bool said = latest.link && latest.link->speed_mbps && *latest.link->speed_mbps > 0;
  return said ? *latest.link->speed_mbps : carrier.best_speed_mbps;
}

double PortHistory::line_rate_bps() const { return linkhealth::line_rate_bps(speed_mbps(), fec()); }

std::string_view PortHistory::fec() const {
  constexpr double kPam4LaneMbps = 50'000;
  const std::string_view said =
      latest.link ? std::string_view(latest.link->fec) : std::string_view();
  if (!said.empty() && said != "RS") return said;
  const std::uint32_t lanes =
      latest.link && latest.link->lanes ? *latest.link->lanes : carrier.best_lanes;
  // Without a number of lanes: no port of 200 Gb/s and more has lanes of 25.
  if (lanes > 0 ? speed_mbps() / lanes >= kPam4LaneMbps : speed_mbps() >= 4 * kPam4LaneMbps)
    return "RS544";
  if (!said.empty()) return "RS528";
  return corrects_ ? "RS528" : said;
}

void PortHistory::note_mated(SteadyTime t) {
  for (auto* since : {&carrier.fresh_since, &carrier.mated_at})
    if (!*since || t > **since) *since = t;
}

void PortHistory::remember_before_fall() {
  double uncorrectable = 0;
  std::vector<double> last;
  for (auto at = counters.intervals.rbegin(); at != counters.intervals.rend() && last.size() < 3;
       ++at) {
    if (!at->clean) continue;
    if (!std::isnan(at->increase(Indicator::kUncorrectableBlocks)))
      uncorrectable += at->increase(Indicator::kUncorrectableBlocks);
    if (!std::isnan(at->ber)) last.push_back(std::max(at->ber, at->ber_floor));
  }
  before_loss.uncorrectable = uncorrectable;
  before_loss.ber =
      last.empty() ? std::nullopt : std::optional(*std::max_element(last.begin(), last.end()));
  before_loss.temperature_c.reset();
  if (own.temperature_c.recent_count > 0) before_loss.temperature_c = own.temperature_c.recent[0];
  before_loss.rx_below_baseline_db.reset();
  for (std::size_t lane = 0; lane < own.rx_lanes; ++lane)
    if (const auto drop = own.rx_dbm[lane].below_baseline())
      before_loss.rx_below_baseline_db =
          std::max(before_loss.rx_below_baseline_db.value_or(-99.0), *drop);
}

/// What one failure says in several words, and with an event, is one.
void PortHistory::note_fatal(SteadyTime t) {
  constexpr double kApartS = 60;
  constexpr std::size_t kKept = 8;
  device.fatal_at = t;
  if (!device.fatal_times.empty() && in_seconds(t - device.fatal_times.back()) < kApartS) return;
  if (device.fatal_times.size() >= kKept) device.fatal_times.erase(device.fatal_times.begin());
  device.fatal_times.push_back(t);
}

/// A device that was started anew and carries is well again. One that does not carry yet may be as
/// dead as before.
void PortHistory::forget_fatal() {
  const auto after = [this](const std::optional<SteadyTime>& start) {
    return start && *start > *device.fatal_at;
  };
  if (!device.fatal_at) return;
  const bool anew = after(carrier.reboot_at) || (after(device.driver_reload_at) && !device.gone_at);
  if (anew || (device.fatal_is_queue && after(carrier.admin_event_at))) end_fatal();
}

void PortHistory::end_fatal() {
  device.fatal_at.reset();
  device.fatal_is_queue = false;
  device.fatal_text.clear();
}

/// Drivers reset a card in place, too, and the kernel's log keeps what was said weeks ago. What a
/// dead card counted last stands still, while its link may be told as up for ever.
void PortHistory::note_life(const Interval& interval) {
  if (!device.fatal_at || device.fatal_is_queue || !interval.carrier ||
      *device.fatal_at > interval.begin)
    return;
  // On Ethernet FEC has always something to correct; InfiniBand's agent does not count that, and an
  // idle port no data.
  const bool answers = answers_ && latest.id->link_layer == "InfiniBand";
  const bool counts = answers || interval.increase(Indicator::kRxOctets) > 0 ||
                      interval.increase(Indicator::kCorrectedBits) > 0 ||
                      interval.increase(Indicator::kCorrectedBlocks) > 0;
  const bool set_up = carrier.admin_event_at && *carrier.admin_event_at > *device.fatal_at;
  const bool trained = carrier.since && *carrier.since > *device.fatal_at && !set_up;
  if (counts && (trained || in_seconds(interval.begin - *device.fatal_at) >= times_.mended_s))
    end_fatal();
}

/// An empty cage that was refuted (by an event, by a carrier) before the module was read again:
/// what is there is not known.
void PortHistory::forget_absent_module() {
  if (latest.module && !latest.module->present) latest.module.reset();
}

void PortHistory::set_carrier(bool up, SteadyTime t) {
  if (carrier.up == up) return;
  if (up) forget_absent_module();
  if (up && !carrier.losses.empty())
    carrier.losses.back().down_s = in_seconds(t - carrier.losses.back().t);
  if (carrier.up.has_value()) carrier.since = t;
  if (carrier.up == true && !up) remember_before_fall();
  const bool long_down =
      up && carrier.up == false && carrier.last_loss && in_seconds(t - *carrier.last_loss) >= 60;
  if (long_down) note_mated(t);
  const bool forget = up && (read_while_down_ || long_down || intended(t) || !carrier.up);
  carrier.up = up;
  if (up) carrier.was_up = true;
  // Readings from before a short flap still say how the link is; readings of the dark time do not.
  if (forget) {
    read_while_down_ = false;
    forget_recent_light();
  }
}

void PortHistory::forget_recent_light() {
  for (ModuleHistory* tracks : {&own, &far})
    for (auto* values : {&tracks->rx_dbm, &tracks->tx_dbm, &tracks->bias_ma})
      for (LaneSeries& track : *values) track.forget_recent();
}

void PortHistory::take_event(const PortEvent& event) {
  if (is_intent(event.kind)) take_intent(event.t);
  switch (event.kind) {
    case PortEventKind::kCarrierDown:
      if (losses_ahead_ == 0)
        take_loss(event.t, 1);
      else
        --losses_ahead_;
      ++losses_by_event_;
      set_carrier(false, event.t);
      break;
    case PortEventKind::kCarrierUp:
      set_carrier(true, event.t);
      break;
    case PortEventKind::kAdminDown:
    case PortEventKind::kAdminUp:
      carrier.admin_event_at = event.t;
      if (latest.link) latest.link->admin_up = event.kind == PortEventKind::kAdminUp;
      if (event.kind == PortEventKind::kAdminUp)
        forget_recent_light();  // a port that is set down sends nothing
      break;
    case PortEventKind::kModuleRemoved:
      carrier.module_event_at = event.t;
      if (latest.module) latest.module->present = false;
      break;
    case PortEventKind::kModuleInserted:
      carrier.module_event_at = event.t;
      forget_absent_module();
      // Whether it is the same one, only its serial says: without it the past may be another
      // module's.
      if (own.serial.empty()) {
        own.clear_baselines();
        drifts = Drifts();
      }
      break;
    case PortEventKind::kDeviceGone:
      device.gone_at = event.t;
      device.gone_reason = event.text;
      device.driver_reload_at = event.t;
      break;
    case PortEventKind::kDeviceAdded:
      device.gone_at.reset();
      device.driver_reload_at = event.t;
      forget_counters();
      break;
    case PortEventKind::kDeviceFatal:
      note_fatal(event.t);
      device.fatal_is_queue = false;
      if (device.fatal_text.empty()) device.fatal_text = "the device reported a fatal error";
      break;
    case PortEventKind::kKernelLog:
      if (device.kernel_log.size() >= 32) device.kernel_log.erase(device.kernel_log.begin());
      device.kernel_log.emplace_back(event.t, event.text);
      if (const bool queue = is_kernel_log(event.text, KernelLogClass::kQueueStuck);
          queue || is_kernel_log(event.text, KernelLogClass::kFatal)) {
        device.fatal_is_queue = queue && (device.fatal_is_queue || !device.fatal_at);
        note_fatal(event.t);
        device.fatal_text = event.text;
      }
      break;
    default:
      break;
  }
}

namespace {

/// Or may have been: where no interface is seen, a RoCE port says the same of one that was set
/// down, as by each pod that comes or goes, and of one whose link fell.
bool may_be_set_down(const LinkSample& link, std::string_view link_layer) {
  return is_set_down(link, link_layer) ||
         (link_layer == "Ethernet" && !link.admin_up && !link.carrier_down_count &&
          link.phys_state == "Disabled");
}

}  // namespace

void PortHistory::take_link(const LinkSample& link, SteadyTime now) {
  std::optional<bool> up = link.carrier;
  if (!up && !link.phys_state.empty()) up = has_link(link.phys_state);
  if (!up && !link.state.empty()) up = link.state == "ACTIVE";
  const std::optional<std::uint64_t> count = link.carrier_down_count;
  std::uint64_t extra = 0;
  if (count && last_down_count_ && *count >= *last_down_count_) {
    const std::uint64_t seen = *count - *last_down_count_;
    const std::uint64_t gained = link.carrier_up_count && last_up_count_
                                     ? *link.carrier_up_count - *last_up_count_
                                     : seen + 1;
    const bool nothing =
        carrier.up == false && up == false && is_no_change(latest.id->driver, gained, seen);
    extra = seen > losses_by_event_ && !nothing ? seen - losses_by_event_ : 0;
  } else if (!count && carrier.up == true && up == false && losses_by_event_ == 0 &&
             losses_ahead_ == 0) {
    extra = 1;
  }
  if (up) losses_ahead_ = 0;
  const std::string& layer = latest.id->link_layer;
  const bool admin_before = latest.link && may_be_set_down(*latest.link, layer);
  const bool set_down = may_be_set_down(link, layer);
  if (set_down && !admin_before) take_intent(now);
  latest.link = link;
  if (extra > 0) take_loss(now, extra);
  if (!set_down && admin_before &&
      (!carrier.admin_event_at || in_seconds(now - *carrier.admin_event_at) > 60)) {
    take_intent(now);  // the event was missed
    carrier.admin_event_at = now;
    forget_recent_light();
  }
  if (up) {
    if (extra > 0 && carrier.up == true && *up) {  // fell and came back between two readings
      remember_before_fall();
      carrier.since = now;
    }
    set_carrier(*up, now);
  }
  if (count) last_down_count_ = count;
  if (link.carrier_up_count) last_up_count_ = link.carrier_up_count;
  losses_by_event_ = 0;
  link_at = now;
  if (carrier.up == true) carrier.last_up_at = wall_;
  if (latest.id->link_layer != "InfiniBand" || !is_unmanaged(link)) {
    carrier.unmanaged_since.reset();
  } else if (!carrier.unmanaged_since) {
    carrier.unmanaged_since = now;
  }
  if (carrier.up == true) forget_fatal();
  if (carrier.up == true) {
    carrier.best_speed_mbps = std::max(carrier.best_speed_mbps, link.speed_mbps.value_or(0));
    carrier.best_lanes = std::max(carrier.best_lanes, link.lanes.value_or(0));
  }
}

void PortHistory::take_reboot(SteadyTime now) {
  carrier.reboot_at = now;
  take_intent(now + from_seconds(times_.boot_quiet_s - times_.after_s));
  excuse(now - from_seconds(900));
  forget_counters();
}

/// They began anew, and may already be higher than they were.
void PortHistory::forget_counters() {
  latest.counters.reset();
  meter_.forget();
  last_fec_lanes_.clear();
  held_ = Counters();
  held_lanes_.clear();
  lanes_doubted_ = false;
  downs_read_at_.reset();
  losses_told_ = 0;
  last_down_count_.reset();
  last_up_count_.reset();
  phy_.reset();
  phy_before_fall_.reset();
  losses_ahead_ = 0;
  open_valid_ = false;
  device.aer_totals = {};  // the next reading begins `aer` anew
}

bool PortHistory::is_shut_out(SteadyTime now) const {
  return carrier.unmanaged_since && in_seconds(now - *carrier.unmanaged_since) >= times_.manager_s;
}

const Blindness* PortHistory::blind_to(std::string_view probe) const {
  const auto at = blind.find(std::string(probe));
  return at == blind.end() || at->second.part ? nullptr : &at->second;
}

void PortHistory::forget_old(SteadyTime now) {
  // A group's gap ends when the group is read. Any other gap is over when nobody repeats it: what
  // fails is tried again.
  std::erase_if(blind, [now](const auto& entry) {
    return !is_group(entry.first) && in_seconds(now - entry.second.last) > kGapKeepSeconds;
  });
  forget_old_losses(now);
  while (!counters.intervals.empty() &&
         (counters.intervals.size() > kMaxIntervals ||
          in_seconds(now - counters.intervals.front().end) > kIntervalKeepSeconds))
    counters.intervals.pop_front();
  forget_before(peer.errors, now - from_seconds(kIntervalKeepSeconds), &PeerHistory::Errors::t);
}

void PortHistory::begin(const PortSample& sample, SteadyTime now) {
  first_seen = now;
  latest.id = sample.id;
}

}  // namespace linkhealth
