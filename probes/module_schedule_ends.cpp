// How a round of reads ends: nobody there, a failure, or a sample; and when the port is looked at
// again.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "probes/module/decode.h"
#include "probes/module/read_plan.h"
#include "probes/module/screen.h"
#include "probes/module_schedule.h"
#include "probes/sysfs_text.h"

namespace linkhealth {
namespace {

constexpr int kMaxDoublings = 20;

std::string name_of(const ModulePageRequest& page, ModuleMap map) {
  return page_name({page.i2c_address, page.bank, page.page, page.offset >= 128}, map);
}

/// SFF-8472 gives LOS and transmit fault live; the other maps latch them. The flags of tunable
/// lasers all maps latch.
bool is_latched(const ModuleSample& sample) { return !sample.management.starts_with("SFF-8472"); }

/// What stands where a laser's error does is a measured 0 when it was another before.
void keep_laser_error(const ModuleImage& image, bool& was_told, ModuleSample& sample) {
  std::optional<double>& error_mhz = sample.vdm.laser_frequency_error_mhz;
  was_told = was_told || error_mhz.has_value();
  const bool tuned =
      !sample.laser_tuning.empty() && sample.laser_tuning[0].frequency_ghz.has_value();
  if (was_told && tuned && laser_error_is_zero(image)) error_mhz = 0;
}

}  // namespace

void ModuleSchedule::end_absent(Port& port, SteadyTime now) {
  forget_module(port);
  port.swapped = false;
  if (port.present == true) port.change = ModuleChange::kRemoved;
  port.present = false;
  port.failures = 0;
  const bool agreed = port.id.no_cable && !port.answered;  // driver and cage
  set_due(port, now, agreed ? timing_.longest_wait : timing_.absent_period);
  // A look at a cage that only fails is dear: it is a line in the kernel's log.
  if (agreed && port.silences > 1 && !port.asked_again) port.due.reset();
  ModuleSample empty;
  empty.present = false;
  finish(port, std::move(empty), std::nullopt);
}

void ModuleSchedule::end_failed(Port& port, const Error& error, SteadyTime now) {
  keep_unseen_flags(port);
  const std::string reason = error.errnum != 0 ? errno_name(error.errnum) : error.message;
  port.failures = std::min(port.failures + 1, kMaxDoublings);
  set_due(port, now, reason == "EPERM" ? timing_.longest_wait : back_off(port.failures));
  std::string text = reason;
  if (port.unsupported) {
    port.due.reset();
    text += ": the driver has no module interface";
  } else if (reason == "EPERM") {
    text += ": reading modules needs CAP_NET_ADMIN";
  } else if (reason == "ESHUTDOWN") {
    text += ": the driver has detached its network device";
  } else if (const std::string words = printable(trim(error.kernel_words)); !words.empty()) {
    text += ": " + words;
  }
  port.change = ModuleChange::kNone;
  finish(port, std::nullopt, Gap{port.id.port, "module", std::move(text)});
}

/// What was read in a round that ended early. One that reads a module anew has perhaps its lower
/// page only: what that says the memory before tells.
std::optional<ModuleImage> ModuleSchedule::read_so_far(const Port& port) {
  if (port.identified) return port.image;
  constexpr ModulePageRequest kLower{kModuleAddressA0, 0, 0, 0, 128};
  const auto lower = lower_page(port.image).raw(kLower.offset, kLower.length);
  if (!port.doubted || !lower) return std::nullopt;
  ModuleImage image = without_monitors(*port.doubted);
  image.store(kLower, std::vector<std::uint8_t>(lower->begin(), lower->end()));
  return image;
}

/// Reading has cleared them in the module: those of a round that ends early are told with the next
/// one.
void ModuleSchedule::keep_unseen_flags(Port& port) const {
  const auto image = read_so_far(port);
  if (!port.flags_valid || !image) return;
  ModuleSample sample = decode_with_unset_flags(*image);
  if (!is_latched(sample)) {
    ModuleSample latched;
    latched.laser_tuning = std::move(sample.laser_tuning);
    latched.other_flags = std::move(sample.other_flags);
    sample = std::move(latched);
  }
  if (port.unseen) unite_flags(sample, *port.unseen);
  port.unseen = std::move(sample);
}

void ModuleSchedule::end_good(Port& port, SteadyTime now) {
  // Some drivers answer success with no bytes when the read failed (mlx5 before 6.18).
  if (const std::string why = why_nothing_known(port.image); !why.empty()) {
    port.image = ModuleImage();
    port.identified = false;
    return end_failed(port, Error{why}, now);
  }
  ModuleSample sample = decode_with_unset_flags(port.image);
  const ModuleMap map = module_head(port.image).map;
  for (const auto& [page, failure] : port.page_failures) {
    std::string warning = name_of(page, map) + ": " + errno_name(failure.errnum);
    if (sample.warnings.empty() || sample.warnings.back() != warning)
      sample.warnings.push_back(std::move(warning));
  }
  port.doubted.reset();
  keep_laser_error(port.image, port.laser_error_told, sample);
  doubt(port, sample, now);
  if (std::exchange(port.swapped, false)) port.change = ModuleChange::kSwapped;
  if (port.present == false) port.change = ModuleChange::kInserted;
  port.present = true;
  port.answered = port.id.no_cable && port.no_cable_before;
  port.failures = 0;
  Milliseconds wait = timing_.period;
  const ModuleCalm calm = calm_of(sample);
  if (has_other_limits(port.calm, calm)) {
    port.image = without_limits(port.image);
    port.identified = false;
    wait = std::min(wait, timing_.settle);
  }
  // What is latched then happened at an unknown time, while the module was put in, powered up or
  // switched on.
  if (const auto earlier = std::exchange(port.unseen, std::nullopt)) unite_flags(sample, *earlier);
  const bool first = !port.flags_valid;
  const bool starts = first || has_just_come_up(port.calm, calm);
  // So that they are known soon, and what is so now of a tunable SFP, whose bit is one with the
  // latched one's.
  if (starts && (is_latched(sample) || !sample.laser_tuning.empty()))
    wait = std::min(wait, timing_.settle);
  if (starts && !is_latched(sample)) forget_tuning_flags(sample);
  if (first && is_latched(sample)) forget_flags(sample);
  if (starts && !first && is_latched(sample)) forget_flags_of_what_came_up(sample, port.calm, calm);
  port.history.take(sample, wall_);
  list_set_flags(sample);
  sample.flags = port.history.list();
  port.calm = calm;
  port.flags_valid = true;
  set_due(port, now, wait);
  finish(port, std::move(sample), std::nullopt);
}

/// A module that was put in a moment ago may answer zeros, or half a page, where its names and
/// limits stand. One that still does after some minutes is like that: only an event is a reason to
/// look again.
void ModuleSchedule::doubt(Port& port, const ModuleSample& sample, SteadyTime now) const {
  port.doubt_at.reset();
  if (sample.checksums_ok != false && !identity_is_doubtful(port.image)) {
    port.doubts = 0;
    return;
  }
  port.doubts = std::min(port.doubts + 1, kMaxDoublings);
  if (const Milliseconds wait = back_off(port.doubts); wait < timing_.longest_wait)
    port.doubt_at = now + wait;
}

void ModuleSchedule::finish(Port& port, std::optional<ModuleSample> sample,
                            std::optional<Gap> gap) {
  port.in_round = false;
  ModuleRound round{port.id.port, std::move(sample), std::move(gap),
                    port.change,  port.started_at,   in_seconds(port.duration)};
  const auto older =
      std::find_if(finished_.begin(), finished_.end(),
                   [&](const ModuleRound& other) { return other.port == round.port; });
  if (older == finished_.end()) {
    finished_.push_back(std::move(round));
    return;
  }
  if (round.change == ModuleChange::kNone) {
    round.change = older->change;
    if (round.sample && older->sample) unite_flags(*round.sample, *older->sample);
  }
  *older = std::move(round);
}

void ModuleSchedule::set_due(Port& port, SteadyTime now, Milliseconds wait) const {
  const Milliseconds rest =
      std::clamp(std::chrono::ceil<Milliseconds>(port.duration * timing_.slow_factor),
                 timing_.settle, timing_.longest_wait);
  port.not_before = now + rest;
  port.due = port.asked_again ? port.not_before : now + std::max(wait, rest);
}

Milliseconds ModuleSchedule::back_off(int failures) const {
  Milliseconds wait = timing_.first_retry;
  for (int i = 1; i < failures && wait < timing_.longest_wait; ++i) wait *= 2;
  return std::min(wait, timing_.longest_wait);
}

}  // namespace linkhealth
