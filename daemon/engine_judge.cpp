// What the engine makes of one port's view: which ports behave alike, what is wrong, how bad it is.
#include <algorithm>
#include <cmath>

#include "daemon/engine_report.h"
#include "daemon/engine_state.h"

namespace linkhealth {

namespace {

// Fitted on simulated cases with seeds below 1000 (docs/accuracy.md). Opening asks whether
// something is wrong, naming asks what.
constexpr Knob kJudgeKnobs[] = {
    {"open_at", 0.7, 0.5, 0.999, "",
     "probability that something is wrong, below which nothing is said"},
    {"second_at", 0.9, 0.5, 0.999, "",
     "the same for a second fault, of what the first does not explain"},
    {"second_confidence", 0.5, 0, 1, "", "a second fault that is less sure is not named"},
    {"reading_s", 60, 0, 600, "s",
     "more patience with a link that is down while no name leads: module and far end are read"},
    {"leads_at", 0.5, 0, 1, "", "a name that is so sure leads"},
    {"undecided_ratio", 0.4, 0.05, 1, "",
     "a rival with so much of the first one's confidence cannot be told from it"},
    {"hand_s", 30, 0, 600, "s",
     "more patience with a module that was pulled out: to swap it takes a minute"},
    {"set_up_s", 60, 0, 600, "s",
     "more patience with a link that somebody has set up: nothing fell, and it trains"}};

bool together(SteadyTime a, SteadyTime b, double within_s) {
  return std::abs(in_seconds(a - b)) <= within_s;
}

}  // namespace

std::span<const Knob> judge_knobs() { return kJudgeKnobs; }

namespace {

/// The same kind of module at the same speed.
bool runs_alike(const PortHistory& a, const PortHistory& b) {
  const auto& one = a.latest;
  const auto& two = b.latest;
  return one.module && two.module && !one.module->type.empty() &&
         one.module->type == two.module->type && one.link && two.link && b.carrier.up == true &&
         one.link->speed_mbps && one.link->speed_mbps == two.link->speed_mbps;
}

/// A port with the same kind of module at the same speed.
void note_sibling(GroupStats& group, const PortView& view, const Subject& sibling) {
  ++group.siblings_as_slow;
  if (!sibling.judged->ber || sibling.port->fec() != view.port.fec()) return;
  ++group.siblings_ber;
  group.siblings_worst_ber = std::max(group.siblings_worst_ber, *sibling.judged->ber);
}

/// The speed at which two or more other ports with the same kind of module run, if all of them do.
double siblings_speed(const Subject& subject, const std::vector<Subject>& all) {
  const auto& own = subject.port->latest;
  if (!own.module || own.module->type.empty()) return 0;
  std::size_t count = 0;
  double speed = 0;
  for (const Subject& other : all) {
    const auto& theirs = other.port->latest;
    if (other.port == subject.port || other.port->carrier.up != true || !theirs.link ||
        !theirs.link->speed_mbps)
      continue;
    if (!theirs.module || theirs.module->type != own.module->type ||
        theirs.id.driver != own.id.driver)
      continue;
    if (count > 0 && *theirs.link->speed_mbps != speed) return 0;
    speed = *theirs.link->speed_mbps;
    ++count;
  }
  return count >= 2 ? speed : 0;
}

constexpr double kOneMomentS =
    30;  ///< all functions of a card fall within a few seconds; a driver may tell it later

/// "0000:1b:00.1" and "0000:1b:00.0": two functions of one card.
bool one_card(const PortId& a, const PortId& b) {
  const std::size_t dot = a.pci.rfind('.');
  return dot != std::string::npos && a.pci != b.pci &&
         a.pci.compare(0, dot + 1, b.pci, 0, dot + 1) == 0;
}

/// Another function of the card gave up at the moment when this port fell.
bool card_died(const PortView& view, const PortHistory& other) {
  return view.down && view.port.carrier.since && other.device.fatal_at &&
         !other.device.fatal_is_queue && other.carrier.up != true &&
         together(*other.device.fatal_at, *view.port.carrier.since, kOneMomentS) &&
         one_card(view.port.latest.id, other.latest.id);
}

constexpr double kOutageS = 120;  ///< a longer loss has a cause of its own and is no flap
// Links train for one or two minutes after their driver has loaded (docs/physics.md 7d).
constexpr double kBootS = 240, kReloadS = 200;

/// The node or the driver has just started: a link that is down may be training.
bool starts(const PortView& view, std::optional<double> uptime_s) {
  const auto& reload = view.port.device.driver_reload_at;
  return (uptime_s && *uptime_s < kBootS) || (reload && in_seconds(view.now - *reload) < kReloadS);
}

/// It was down because somebody wanted it, and nobody does any more.
bool set_up_since(const PortView& view) {
  const auto& at = view.port.carrier.admin_event_at;
  return at && view.port.carrier.since && *at > *view.port.carrier.since &&
         view.link().admin_up == true;
}

/// Errors that FEC could not correct in the newest interval of a link that carries undisturbed.
bool lost_lately(const PortView& view) {
  if (view.port.counters.intervals.empty()) return false;
  const Interval& last = view.port.counters.intervals.back();
  return last.clean && (last.increase(Indicator::kUncorrectableBlocks) > 0 ||
                        last.increase(Indicator::kSymbolErrors) > 0);
}

/// A virtual function has the link of a port that is watched too: what happens to both happened
/// once.
bool is_other_link(const Subject& other, const Subject& subject) {
  return other.port != subject.port && other.port->latest.id.exempt.empty();
}

}  // namespace

void Engine::State::fill_group(PortView& view, const Subject& subject,
                               const std::vector<Subject>& all) {
  const double within_s = std::max(15.0, step_s + 1);
  GroupStats& group = view.group;
  Judged& own = *subject.judged;
  own.errors_ever = view.signal.since_ever;
  group.siblings_speed_mbps = siblings_speed(subject, all);
  std::vector<double> rises;
  const bool own_start =
      starts(view, history.uptime_s());  // then all ports of the node are down at once
  for (const Subject& other : all) {
    if (!is_other_link(other, subject)) continue;
    group.card_fatal = group.card_fatal || card_died(view, *other.port);
    if (!other.port->present) continue;
    if (runs_alike(*subject.port, *other.port)) note_sibling(group, view, other);
    // What was ever so did not begin with what began just now.
    const bool same_age =
        other.judged->errors_since && own.errors_ever == other.judged->errors_ever;
    if (!subject.leaf.empty() && other.leaf == subject.leaf && same_age) ++group.leaf_errors;
    if (other.temperature_drop_c) rises.push_back(-*other.temperature_drop_c);
    if (other.temperature_drop_c && *other.temperature_drop_c <= kSharedRiseC)
      ++group.siblings_hotter;
    const bool one_module =
        !subject.port->own.serial.empty() && subject.port->own.serial == other.port->own.serial;
    if (other.supply_low && !one_module) ++group.siblings_supply_low;
    const auto& module = other.port->latest.module;
    group.shares_module = group.shares_module || (one_module && module && module->present);
    // Where nobody says which switch it is, falling together says that it is one.
    if (one_module || other.leaf != subject.leaf) continue;
    if (!other.port->carrier.was_up) continue;
    group.same_leaf += !subject.leaf.empty();
    const bool both_down = view.down && !own_start && other.port->carrier.up == false &&
                           view.port.carrier.since && other.port->carrier.since;
    const bool admin = other.port->latest.link && other.port->latest.link->admin_up == false;
    if (both_down && !admin &&
        together(*view.port.carrier.since, *other.port->carrier.since, within_s))
      ++group.fell_together;
    if (same_age && own.errors_since &&
        together(*own.errors_since, *other.judged->errors_since, 900))
      ++group.errors_together;
  }
  group.siblings = rises.size();
  if (!rises.empty()) {
    const auto middle = rises.begin() + static_cast<std::ptrdiff_t>((rises.size() - 1) / 2);
    std::nth_element(rises.begin(), middle, rises.end());
    group.siblings_rise_c = std::max(0.0, *middle);
  }
  if (view.port.carrier.losses.empty()) return;
  for (const CarrierLoss& loss : view.port.carrier.losses) {
    if (loss.planned || loss.down_s > kOutageS) continue;
    const bool shared = std::any_of(all.begin(), all.end(), [&](const Subject& other) {
      if (!is_other_link(other, subject) || other.leaf != subject.leaf) return false;
      return std::any_of(other.port->carrier.losses.rbegin(), other.port->carrier.losses.rend(),
                         [&](const CarrierLoss& theirs) {
                           return !theirs.planned && theirs.down_s <= kOutageS &&
                                  together(loss.t, theirs.t, within_s);
                         });
    });
    ++(shared ? group.flaps_together : group.flaps_alone);
    if (!shared) continue;
    if (!group.first_flap) group.first_flap = loss.t;
    group.last_flap = loss.t;
  }
}

void Engine::State::note_errors(Judged& port, SteadyTime now) const {
  const bool errors = at(opinion.findings, SymptomId::kReceiveErrors).present() ||
                      at(opinion.findings, SymptomId::kLosingData).present();
  if (errors) {
    if (!port.errors_since) port.errors_since = now;
    port.errors_last = now;
  } else if (port.errors_last && in_seconds(now - *port.errors_last) > 900) {
    port.errors_since.reset();
  }
}

namespace {

/// On fewer lanes than before, or than planned.
bool narrow(const PortView& view) {
  const std::uint32_t planned = view.expected != nullptr ? view.expected->lanes.value_or(0) : 0;
  return view.link().lanes && *view.link().lanes < std::max(view.port.carrier.best_lanes, planned);
}

}  // namespace

Severity Engine::State::severity_of(const RankedFault& ranked, const PortView& view,
                                    const Findings& findings) const {
  const Severity own = ranked.fault->severity;
  if (own == Severity::kNotice || ranked.fault->name == "monitor_blind" ||
      ranked.fault->name == "wrong_cabling")
    return own;
  if (ranked.fault->name == "reduced_speed" && !narrow(view) && wanted_speed(view).by_module)
    return Severity::kNotice;
  const bool bad = view.down || at(findings, SymptomId::kLosingData).present();
  return bad ? Severity::kCritical : own;
}

PortVerdict Engine::State::verdict_of(const PortView& view, Judged& own, const Fault* incumbent) {
  PortVerdict verdict;
  verdict.down = view.down;
  verdict.rate_bps = view.port.line_rate_bps();
  verdict.drops = view.port.carrier.unplanned_total;
  verdict.lost_data = lost_lately(view);
  verdict.module = view.port.own.serial;
  // One cable: its own serial number, or those of the modules at its ends.
  const bool one_piece = view.medium == Medium::kAoc || view.medium == Medium::kCopper;
  if (one_piece)
    verdict.cable = view.port.own.serial;
  else if (!view.port.own.serial.empty() && !view.port.far.serial.empty())
    verdict.cable = view.port.own.serial + " - " + view.port.far.serial;
  verdict.down_s = view.settled_down_s();
  if (view.down && starts(view, history.uptime_s())) verdict.down_s = std::min(verdict.down_s, 0.0);
  if (view.down && set_up_since(view)) verdict.down_s -= judge_values[7];
  verdict.idle = view.traffic.idle_now;
  const Differential& differential =
      own.differential.of({view, opinion.findings, incumbent, nullptr}, differential_values);
  opinion.differential = &differential;
  opinion.second = Differential{};
  verdict.odds = (1 - differential.healthy) / std::max(differential.healthy, 1e-12);
  // A port of which nothing can be read is unknown, which is neither healthy nor faulty.
  const bool blind = at(opinion.findings, SymptomId::kCountersBlind).present();
  const bool unreadable =
      view.port.blind_to("link") != nullptr || view.port.blind_to("counters") != nullptr;
  const bool gone = at(opinion.findings, SymptomId::kDeviceGone).present();
  verdict.judged = view.port.carrier.up.has_value() || blind || gone;
  if (unreadable && !blind && !at(opinion.findings, SymptomId::kDeviceFatal).present())
    verdict.judged = false;
  if (!view.port.present && !gone) verdict.judged = false;
  if (view.port.arrived) {
    verdict.judged = true;  // it came: nothing more is to be seen under this key
    return verdict;
  }
  const bool fault = !differential.ranked.empty() && 1 - differential.healthy >= judge_values[0] &&
                     (view.down || supported(*differential.ranked.front().cause, opinion.findings));
  if (!fault) {
    // Errors that a full counter no longer counts are neither there nor gone.
    if (is_saturated_for(view.port.counters.saturated, kDamageCounts) && !view.signal.ber)
      verdict.judged = false;
    return verdict;
  }
  const RankedFault& first = differential.ranked.front();
  if (view.down && first.confidence < judge_values[4]) verdict.down_s -= judge_values[3];
  if (at(opinion.findings, SymptomId::kModuleAbsent).present()) verdict.down_s -= judge_values[6];
  verdict.primary = {first.fault, first.confidence, severity_of(first, view, opinion.findings)};
  opinion.second = differentiate({view, opinion.findings, nullptr, &first}, differential_values);
  if (!view.down && 1 - opinion.second.healthy >= judge_values[1] &&
      !opinion.second.ranked.empty()) {
    RankedFault& second = opinion.second.ranked.front();
    second.confidence = std::min(second.confidence, first.confidence);
    if (second.confidence >= judge_values[2])
      verdict.secondary = {second.fault, second.confidence,
                           severity_of(second, view, opinion.findings)};
  }
  return verdict;
}

}  // namespace linkhealth
