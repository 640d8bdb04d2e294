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
  return said ? *latest.link->speed_mbps : best_speed_mbps;
}

double PortHistory::line_rate_bps() const { return linkhealth::line_rate_bps(speed_mbps(), fec()); }

std::string_view PortHistory::fec() const {
  constexpr double kPam4LaneMbps = 50'000;
  const std::string_view said =
      latest.link ? std::string_view(latest.link->fec) : std::string_view();
  if (!said.empty() && said != "RS") return said;
  const std::uint32_t lanes = latest.link && latest.link->lanes ? *latest.link->lanes : best_lanes;
  // Without a number of lanes: no port of 200 Gb/s and more has lanes of 25.
  if (lanes > 0 ? speed_mbps() / lanes >= kPam4LaneMbps : speed_mbps() >= 4 * kPam4LaneMbps)
    return "RS544";
  if (!said.empty()) return "RS528";
  return corrects_ ? "RS528" : said;
}

void PortHistory::note_mated(SteadyTime t) {
  for (auto* since : {&fresh_since, &mated_at})
    if (!*since || t > **since) *since = t;
}

void PortHistory::remember_before_fall() {
  double uncorrectable = 0;
  std::vector<double> last;
  for (auto at = intervals.rbegin(); at != intervals.rend() && last.size() < 3; ++at) {
    if (!at->clean) continue;
    if (!std::isnan(at->flow(Flow::kUncorrectableBlocks)))
      uncorrectable += at->flow(Flow::kUncorrectableBlocks);
    if (!std::isnan(at->ber)) last.push_back(std::max(at->ber, at->ber_floor));
  }
  uncorrectable_before_fall = uncorrectable;
  ber_before_fall =
      last.empty() ? std::nullopt : std::optional(*std::max_element(last.begin(), last.end()));
  temperature_before_fall_c.reset();
  if (own.temperature_c.recent_count > 0) temperature_before_fall_c = own.temperature_c.recent[0];
  rx_drop_before_fall.reset();
  for (std::size_t lane = 0; lane < own.rx_lanes; ++lane)
    if (const auto drop = own.rx_dbm[lane].drop())
      rx_drop_before_fall = std::max(rx_drop_before_fall.value_or(-99.0), *drop);
}

/// What one failure says in several words, and with an event, is one.
void PortHistory::note_fatal(SteadyTime t) {
  constexpr double kApartS = 60;
  constexpr std::size_t kKept = 8;
  fatal_at = t;
  if (!fatals.empty() && in_seconds(t - fatals.back()) < kApartS) return;
  if (fatals.size() >= kKept) fatals.erase(fatals.begin());
  fatals.push_back(t);
}

/// A device that was started anew and carries is well again. One that does not carry yet may be as
/// dead as before.
void PortHistory::forget_fatal() {
  const auto after = [this](const std::optional<SteadyTime>& start) {
    return start && *start > *fatal_at;
  };
  if (!fatal_at) return;
  const bool anew = after(last_reboot) || (after(driver_reload_at) && !device_gone_at);
  if (anew || (fatal_queue && after(last_admin_event))) end_fatal();
}

void PortHistory::end_fatal() {
  fatal_at.reset();
  fatal_queue = false;
  fatal_text.clear();
}

/// Drivers reset a card in place, too, and the kernel's log keeps what was said weeks ago. What a
/// dead card counted last stands still, while its link may be told as up for ever.
void PortHistory::note_life(const OpenInterval& interval) {
  if (!fatal_at || fatal_queue || !interval.carrier || *fatal_at > interval.begin) return;
  // On Ethernet FEC has always something to correct; InfiniBand's agent does not count that, and an
  // idle port no data.
  const bool answers = answers_ && latest.id.link_layer == "InfiniBand";
  const bool counts = answers || interval.flow(Flow::kRxOctets) > 0 ||
                      interval.flow(Flow::kCorrectedBits) > 0 ||
                      interval.flow(Flow::kCorrectedBlocks) > 0;
  const bool set_up = last_admin_event && *last_admin_event > *fatal_at;
  const bool trained = carrier_since && *carrier_since > *fatal_at && !set_up;
  if (counts && (trained || in_seconds(interval.begin - *fatal_at) >= times_.mended_s)) end_fatal();
}

/// An empty cage that was refuted (by an event, by a carrier) before the module was read again:
/// what is there is not known.
void PortHistory::forget_absent_module() {
  if (latest.module && !latest.module->present) latest.module.reset();
}

void PortHistory::set_carrier(bool up, SteadyTime t) {
  if (carrier == up) return;
  if (up) forget_absent_module();
  if (up && !losses.empty()) losses.back().down_s = in_seconds(t - losses.back().t);
  if (carrier.has_value()) carrier_since = t;
  if (carrier == true && !up) remember_before_fall();
  const bool long_down = up && carrier == false && last_loss && in_seconds(t - *last_loss) >= 60;
  if (long_down) note_mated(t);
  const bool forget = up && (read_while_down_ || long_down || intended(t) || !carrier);
  carrier = up;
  if (up) carrier_seen = true;
  // Readings from before a short flap still say how the link is; readings of the dark time do not.
  if (forget) {
    read_while_down_ = false;
    forget_recent_light();
  }
}

void PortHistory::forget_recent_light() {
  for (ModuleTracks* tracks : {&own, &far})
    for (auto* values : {&tracks->rx_dbm, &tracks->tx_dbm, &tracks->bias_ma})
      for (Track& track : *values) track.forget_recent();
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
      last_admin_event = event.t;
      if (latest.link) latest.link->admin_up = event.kind == PortEventKind::kAdminUp;
      if (event.kind == PortEventKind::kAdminUp)
        forget_recent_light();  // a port that is set down sends nothing
      break;
    case PortEventKind::kModuleRemoved:
      last_module_event = event.t;
      if (latest.module) latest.module->present = false;
      break;
    case PortEventKind::kModuleInserted:
      last_module_event = event.t;
      forget_absent_module();
      // Whether it is the same one, only its serial says: without it the past may be another
      // module's.
      if (own.serial.empty()) {
        own.clear_references();
        drifts = Drifts();
      }
      break;
    case PortEventKind::kDeviceGone:
      device_gone_at = event.t;
      gone_words = event.text;
      driver_reload_at = event.t;
      break;
    case PortEventKind::kDeviceAdded:
      device_gone_at.reset();
      driver_reload_at = event.t;
      forget_counters();
      break;
    case PortEventKind::kDeviceFatal:
      note_fatal(event.t);
      fatal_queue = false;
      if (fatal_text.empty()) fatal_text = "the device reported a fatal error";
      break;
    case PortEventKind::kKernelLog:
      if (kernel_log.size() >= 32) kernel_log.erase(kernel_log.begin());
      kernel_log.emplace_back(event.t, event.text);
      if (const bool queue = is_kernel_log(event.text, KernelLogClass::kQueueStuck);
          queue || is_kernel_log(event.text, KernelLogClass::kFatal)) {
        fatal_queue = queue && (fatal_queue || !fatal_at);
        note_fatal(event.t);
        fatal_text = event.text;
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
        carrier == false && up == false && is_no_change(latest.id.driver, gained, seen);
    extra = seen > losses_by_event_ && !nothing ? seen - losses_by_event_ : 0;
  } else if (!count && carrier == true && up == false && losses_by_event_ == 0 &&
             losses_ahead_ == 0) {
    extra = 1;
  }
  if (up) losses_ahead_ = 0;
  const std::string& layer = latest.id.link_layer;
  const bool admin_before = latest.link && may_be_set_down(*latest.link, layer);
  const bool set_down = may_be_set_down(link, layer);
  if (set_down && !admin_before) take_intent(now);
  latest.link = link;
  if (extra > 0) take_loss(now, extra);
  if (!set_down && admin_before &&
      (!last_admin_event || in_seconds(now - *last_admin_event) > 60)) {
    take_intent(now);  // the event was missed
    last_admin_event = now;
    forget_recent_light();
  }
  if (up) {
    if (extra > 0 && carrier == true && *up) {  // fell and came back between two readings
      remember_before_fall();
      carrier_since = now;
    }
    set_carrier(*up, now);
  }
  if (count) last_down_count_ = count;
  if (link.carrier_up_count) last_up_count_ = link.carrier_up_count;
  losses_by_event_ = 0;
  link_at = now;
  if (carrier == true) linked_at = wall_;
  if (latest.id.link_layer != "InfiniBand" || !is_unmanaged(link)) {
    unmanaged_since.reset();
  } else if (!unmanaged_since) {
    unmanaged_since = now;
  }
  if (carrier == true) forget_fatal();
  if (carrier == true) {
    best_speed_mbps = std::max(best_speed_mbps, link.speed_mbps.value_or(0));
    best_lanes = std::max(best_lanes, link.lanes.value_or(0));
  }
}

void PortHistory::take_reboot(SteadyTime now) {
  last_reboot = now;
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
  aer_totals = {};  // the next reading begins `aer` anew
}

bool PortHistory::is_shut_out(SteadyTime now) const {
  return unmanaged_since && in_seconds(now - *unmanaged_since) >= times_.manager_s;
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
  while (!intervals.empty() && (intervals.size() > kMaxIntervals ||
                                in_seconds(now - intervals.front().end) > kIntervalKeepSeconds))
    intervals.pop_front();
  forget_before(peer_errors, now - from_seconds(kIntervalKeepSeconds), &PeerErrors::t);
}

void PortHistory::begin(const PortSample& sample, SteadyTime now) {
  first_seen = now;
  latest.id = sample.id;
}

}  // namespace linkhealth
