#include "probes/module/module_schedule.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "probes/module/decode.h"
#include "probes/module/read_plan.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {
namespace {

/// A page that failed this often is skipped in the round; before that, the bus may just have been
/// busy.
constexpr int kPageTries = 3;
constexpr int kMaxDoublings = 20;
/// The shortest time between two of our reads, in which other processes can take the RTNL lock.
constexpr Milliseconds kShortestPause{2};

bool is_absent(int errnum) { return errnum == ENODEV || errnum == ENXIO; }
/// The address did not answer (Documentation/i2c/fault-codes.rst). A module that was just inserted
/// returns EIO for minutes.
bool is_silence(int errnum) { return errnum == EIO || errnum == EREMOTEIO || is_absent(errnum); }
/// The page does not exist and never will.
bool is_final(int errnum) { return errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ERANGE; }

/// The remainder of a short read, from an even offset on: two-byte values stay whole. nullopt if
/// nothing is left.
std::optional<ModulePageRequest> rest_of(ModulePageRequest page, std::size_t came) {
  const auto whole = static_cast<std::uint8_t>(came & ~std::size_t{1});
  if (came >= page.length || whole == 0) return std::nullopt;
  page.offset = static_cast<std::uint8_t>(page.offset + whole);
  page.length = static_cast<std::uint8_t>(page.length - whole);
  return page;
}

std::optional<std::string> bytes_at(const ModuleImage& image, const ModulePageRequest& where) {
  return ModulePage(image, where.key()).raw(where.offset, where.length);
}

}  // namespace

// --- ports and events

void ModuleSchedule::set_ports(const std::vector<ModulePort>& ports, SteadyTime now) {
  std::vector<Port> kept;
  for (const ModulePort& id : ports) {
    const auto known = std::ranges::find_if(ports_, [&](const Port& port) {
      return port.id.port == id.port && port.id.ifindex == id.ifindex;
    });
    Port& port = kept.emplace_back(known != ports_.end() ? std::move(*known) : Port());
    const ModulePort before = std::exchange(port.id, id);
    if (known == ports_.end()) {
      look_soon(port, now);
    } else if (before.left_alone != id.left_alone) {
      // Afterwards, the serial number shows whether it is the same module. It may have received new
      // firmware, and what it latched meanwhile is due to that.
      port.in_round = false;
      port.due.reset();
      port.module.flags_valid = false;
      port.module.unpublished.reset();
      look_soon(port, now);
    } else if (before.no_cable != id.no_cable) {
      port.no_cable_means_fibre = false;
      look_soon(port, now);
    }
  }
  ports_ = std::move(kept);
}

void ModuleSchedule::request(const PortKey& key, SteadyTime now) {
  if (Port* port = find(key)) look_soon(*port, now);
}

void ModuleSchedule::look_soon(Port& port, SteadyTime now) {
  if (port.id.left_alone) return;
  port.event_in_round = true;
  port.silences = 0;
  port.failures = 0;
  port.unsupported = false;
  port.module.reread_at = now;
  port.module.rereads = 0;
  const SteadyTime soonest = std::max(now, port.not_before);
  if (!port.due || *port.due > soonest) port.due = soonest;
}

ModuleSchedule::Port* ModuleSchedule::find(const PortKey& key) {
  const auto found =
      std::ranges::find_if(ports_, [&](const Port& port) { return port.id.port == key; });
  return found != ports_.end() ? &*found : nullptr;
}

// --- a round of reads

/// A round is finished before the next one begins: its pages belong together.
ModuleSchedule::Port* ModuleSchedule::next_port(SteadyTime now) {
  Port* best = nullptr;
  for (Port& port : ports_) {
    if (port.in_round) return &port;
    if (port.due && *port.due <= now && (best == nullptr || *port.due < *best->due)) best = &port;
  }
  return best;
}

std::optional<ModuleRead> ModuleSchedule::next(SteadyTime now) {
  if (now < quiet_until_) return std::nullopt;
  while (Port* port = next_port(now)) {
    if (!port->in_round) begin_round(*port, now);
    if (const auto page = next_page(*port))
      return ModuleRead{port->id.port, port->id.ifindex, *page};
    end_good(*port, now);
  }
  return std::nullopt;
}

std::optional<SteadyTime> ModuleSchedule::wake_at() const {
  std::optional<SteadyTime> first;
  for (const Port& port : ports_) {
    if (port.in_round) return quiet_until_;
    if (port.due && (!first || *port.due < *first)) first = port.due;
  }
  return first ? std::optional(std::max(*first, quiet_until_)) : std::nullopt;
}

void ModuleSchedule::begin_round(Port& port, SteadyTime now) {
  port.in_round = true;
  port.checking_identity = false;
  port.event_in_round = false;
  port.no_cable_at_start = port.id.no_cable;
  port.rest.reset();
  port.started_at = now;
  port.duration = Microseconds{0};
  Module& module = port.module;
  module.image = without_monitors(module.image);
  if (module.reread_at && now >= *module.reread_at) module.image.expect_new_answers();
}

std::optional<ModulePageRequest> ModuleSchedule::next_page(Port& port) {
  if (port.rest) return port.rest;
  Module& module = port.module;
  if (const auto pages = next_reads(module.image); !pages.empty()) return request_of(pages.front());
  const auto where = identity_request(module.image);
  if (!where) return std::nullopt;
  if (!module.identity || module.identity->where != *where) {
    const auto bytes = bytes_at(module.image, *where);
    if (!bytes) return std::nullopt;
    module.identity = Identity{*where, *bytes};
  }
  port.checking_identity = true;
  return where;
}

void ModuleSchedule::done(const ModuleRead& read, const Result<std::vector<std::uint8_t>>& answer,
                          Microseconds took, SteadyTime ended, WallTime wall) {
  wall_ = wall;
  quiet_until_ = ended + std::max(std::chrono::ceil<Milliseconds>(took), kShortestPause);
  Port* port = find(read.port);
  if (port == nullptr || !port->in_round || port->id.ifindex != read.ifindex) return;
  port->duration += took;
  if (!answer) return store_error(*port, read.page, answer.error(), ended);
  port->module.image.store(read.page, *answer);
  port->module.failed_pages.erase(read.page.key());
  port->rest = rest_of(read.page, answer->size());
  if (port->checking_identity && !port->rest) check_identity(*port, ended);
}

void ModuleSchedule::store_error(Port& port, const ModulePageRequest& page, const Error& error,
                                 SteadyTime now) {
  const bool was_rest = std::exchange(port.rest, std::nullopt).has_value();
  const ModulePageKey key = page.key();
  const bool lower = key == kLowerPage;
  // Without these, nothing else can be decoded. A page that does not answer does not mean an empty
  // cage.
  const bool needed = lower || key == upper_key(0) || port.checking_identity;
  if (is_absent(error.errnum) && needed) return end_absent(port, now);
  // A cage that does not answer is empty if the driver also reports so (mlx5 before 6.19 has only
  // EIO for it). Require two failures: one read in fifty fails although the module is there.
  const bool silent =
      is_silence(error.errnum) && port.id.no_cable && !port.no_cable_means_fibre && lower;
  if (silent && !port.checking_identity && ++port.silences > 1) return end_absent(port, now);
  const bool may_be_missing =
      !port.checking_identity && (was_rest || !needed || (!lower && is_final(error.errnum)));
  if (may_be_missing) {
    PageFailure& failure = port.module.failed_pages[key];
    failure.errnum = error.errnum;
    ++failure.count;
    // Other errors may concern the port or the whole bus: they end the round until the same page
    // has failed kPageTries times in a row.
    if (is_final(error.errnum) || is_silence(error.errnum) || failure.count >= kPageTries) {
      if (!was_rest) port.module.image.forget(key);
      port.module.image.store(page, {});
      return;
    }
  }
  port.unsupported = error.errnum == EOPNOTSUPP;
  end_failed(port, error, now);
}

void ModuleSchedule::check_identity(Port& port, SteadyTime now) {
  const Identity& known = *port.module.identity;
  if (bytes_at(port.module.image, known.where) == known.bytes) return end_good(port, now);
  port.module = Module();
  port.swapped = true;
  begin_round(port, now);
}

// --- the end of a round

void ModuleSchedule::end_absent(Port& port, SteadyTime now) {
  port.module = Module();
  port.swapped = false;
  port.failures = 0;
  const bool removed = std::exchange(port.present, false) == true;
  const bool agreed = port.id.no_cable && !port.no_cable_means_fibre;  // driver and cage
  set_due(port, now, agreed ? timing_.longest_wait : timing_.absent_period);
  // Each failed read of a cage adds a line to the kernel log.
  if (agreed && port.silences > 1 && !port.event_in_round) port.due.reset();
  ModuleSample empty;
  empty.present = false;
  finish(port, std::move(empty), std::nullopt,
         removed ? ModuleChange::kRemoved : ModuleChange::kNone);
}

void ModuleSchedule::end_failed(Port& port, const Error& error, SteadyTime now) {
  Module& module = port.module;
  // The reads have cleared the flags in the module: the next good round reports them.
  if (module.flags_valid && lower_page(module.image).exists()) {
    ModuleSample sample = decode_module(module.image);
    if (has_latched_flags(sample)) {
      if (module.unpublished) unite_flags(sample, *module.unpublished);
      module.unpublished = std::move(sample);
    }
  }
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
  finish(port, std::nullopt, Gap{port.id.port, "module", std::move(text)}, ModuleChange::kNone);
}

void ModuleSchedule::end_good(Port& port, SteadyTime now) {
  Module& module = port.module;
  // Some drivers return success without bytes when the read failed (mlx5 before 6.18).
  if (const std::string why = why_nothing_known(module.image); !why.empty()) {
    module.image = ModuleImage();
    return end_failed(port, Error{why}, now);
  }
  ModuleSample sample = decode_module(module.image);
  const ModuleMap map = module_head(module.image).map;
  for (const auto& [key, failure] : module.failed_pages)
    sample.warnings.push_back(page_name(key, map) + ": " + errno_name(failure.errnum));
  if (!port.event_in_round) plan_reread(module, sample, now);  // an event rereads all pages

  ModuleChange change = ModuleChange::kNone;
  if (std::exchange(port.swapped, false)) change = ModuleChange::kSwapped;
  if (port.present == false) change = ModuleChange::kInserted;
  port.present = true;
  port.no_cable_means_fibre = port.id.no_cable && port.no_cable_at_start;
  port.failures = 0;

  if (module.unpublished) unite_flags(sample, *module.unpublished);
  module.unpublished.reset();
  Milliseconds wait = timing_.period;
  std::vector<bool> activity = activity_of(sample);
  const bool first = !std::exchange(module.flags_valid, true);
  if (first || has_come_up(module.activity, activity)) {
    // What is latched now occurred at an unknown time: while the module was inserted, powered up or
    // enabled. The next round is reliable, and the limits may have changed.
    if (has_latched_flags(sample)) {
      forget_flags(sample);
      wait = std::min(wait, timing_.settle);
    }
    if (!first) module.reread_at = now;
  }
  module.activity = std::move(activity);
  module.history.update(sample, wall_);
  sample.flags = module.history.list();
  set_due(port, now, wait);
  finish(port, std::move(sample), std::nullopt, change);
}

/// A module that has just been inserted may return zeros, or half a page, instead of its names and
/// limits; a page that failed may succeed later.
void ModuleSchedule::plan_reread(Module& module, const ModuleSample& sample, SteadyTime now) const {
  const bool page_may_come = std::ranges::any_of(
      module.failed_pages, [](const auto& page) { return !is_final(page.second.errnum); });
  if (sample.checksums_ok != false && !identity_is_doubtful(module.image) && !page_may_come) {
    module.reread_at.reset();
    module.rereads = 0;
  } else if (!module.reread_at || now >= *module.reread_at) {
    module.rereads = std::min(module.rereads + 1, kMaxDoublings);
    module.reread_at = now + back_off(module.rereads);
  }
}

void ModuleSchedule::finish(Port& port, std::optional<ModuleSample> sample, std::optional<Gap> gap,
                            ModuleChange change) {
  port.in_round = false;
  ModuleRound round{port.id.port, std::move(sample), std::move(gap),
                    change,       port.started_at,   in_seconds(port.duration)};
  const auto older = std::ranges::find(finished_, round.port, &ModuleRound::port);
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

std::vector<ModuleRound> ModuleSchedule::collect_rounds() { return std::exchange(finished_, {}); }

void ModuleSchedule::set_due(Port& port, SteadyTime now, Milliseconds wait) const {
  const Milliseconds rest =
      std::clamp(std::chrono::ceil<Milliseconds>(port.duration * timing_.slow_factor),
                 timing_.settle, timing_.longest_wait);
  port.not_before = now + rest;
  port.due = port.event_in_round ? port.not_before : now + std::max(wait, rest);
}

Milliseconds ModuleSchedule::back_off(int failures) const {
  Milliseconds wait = timing_.first_retry;
  for (int i = 1; i < failures && wait < timing_.longest_wait; ++i) wait *= 2;
  return std::min(wait, timing_.longest_wait);
}

}  // namespace linkhealth
