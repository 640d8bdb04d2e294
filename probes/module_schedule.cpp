#include "probes/module_schedule.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "probes/module/decode.h"
#include "probes/module/read_plan.h"
#include "probes/module/screen.h"
#include "probes/sysfs_text.h"

namespace linkhealth {
namespace {

/// A page that failed this often is tried only seldom; before that the bus may just have been busy.
constexpr int kPageTries = 3;
/// The shortest time for which others can take the RTNL lock between two of our reads.
constexpr Milliseconds kShortestPause{2};

bool is_absent(int errnum) { return errnum == ENODEV || errnum == ENXIO; }
/// What passes: a module that was just put in answers EIO for minutes, and the bus has words of its
/// own for an address that did not answer (Documentation/i2c/fault-codes.rst).
bool may_pass(int errnum) {
  return errnum == EIO || errnum == ENXIO || errnum == ENODEV || errnum == EREMOTEIO;
}
/// The page is not there and will not be.
bool is_final(int errnum) { return errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ERANGE; }
bool is_lower_page(const ModulePageRequest& page) {
  return page.offset < 128 && page.i2c_address == kModuleAddressA0;
}
bool is_identity_page(const ModulePageRequest& page) {
  return page.offset >= 128 && page.page == 0 && page.i2c_address == kModuleAddressA0;
}

/// The rest of a short read, from an even offset on: two-byte values stay whole. nullopt when
/// nothing more is to come.
std::optional<ModulePageRequest> rest_of(ModulePageRequest page, std::size_t came) {
  const auto whole = static_cast<std::uint8_t>(came & ~std::size_t{1});
  if (came >= page.length || whole == 0) return std::nullopt;
  page.offset = static_cast<std::uint8_t>(page.offset + whole);
  page.length = static_cast<std::uint8_t>(page.length - whole);
  return page;
}

std::optional<std::string> bytes_at(const ModuleImage& image, const ModulePageRequest& where) {
  const ModulePage page(image, {where.i2c_address, where.bank, where.page, where.offset >= 128});
  return page.raw(where.offset, where.length);
}

}  // namespace

void ModuleSchedule::set_ports(const std::vector<ModulePort>& ports, SteadyTime now) {
  std::vector<Port> kept;
  for (const ModulePort& id : ports) {
    const auto known = std::find_if(ports_.begin(), ports_.end(), [&](const Port& port) {
      return port.id.port == id.port && port.id.ifindex == id.ifindex;
    });
    if (known != ports_.end()) {
      kept.push_back(std::move(*known));
      leave_alone(kept.back(), id.left_alone, now);
      take_word(kept.back(), id.no_cable, now);
    } else {
      kept.emplace_back();
      kept.back().id = id;
      if (!id.left_alone) kept.back().due = now;
    }
  }
  ports_ = std::move(kept);
}

/// Whether it is the same module afterwards, its proof tells, and its past stays its own. All else
/// may be another: it may have been given new firmware, and what it latched meanwhile is of that.
void ModuleSchedule::leave_alone(Port& port, bool left, SteadyTime now) {
  if (port.id.left_alone == left) return;
  port.id.left_alone = left;
  port.in_round = false;
  port.due.reset();
  port.image = ModuleImage();
  port.identified = port.flags_valid = false;
  port.unseen.reset();
  port.doubted.reset();
  port.page_failures.clear();
  look_soon(port, now);
}

void ModuleSchedule::take_word(Port& port, bool no_cable, SteadyTime now) {
  if (port.id.no_cable == no_cable) return;
  port.id.no_cable = no_cable;
  port.answered = false;
  look_soon(port, now);
}

void ModuleSchedule::request(const PortKey& key, SteadyTime now) {
  if (Port* port = find(key)) look_soon(*port, now);
}

void ModuleSchedule::look_soon(Port& port, SteadyTime now) {
  if (port.id.left_alone) return;
  port.asked_again = true;
  port.silences = 0;
  port.failures = 0;
  port.unsupported = false;
  for (auto& [page, failure] : port.page_failures)
    if (failure.again_at) failure.again_at = now;
  if (port.doubts > 0) port.doubt_at = now;
  const SteadyTime soonest = std::max(now, port.not_before);
  if (!port.due || *port.due > soonest) port.due = soonest;
}

ModuleSchedule::Port* ModuleSchedule::find(const PortKey& key) {
  const auto found = std::find_if(ports_.begin(), ports_.end(),
                                  [&](const Port& port) { return port.id.port == key; });
  return found != ports_.end() ? &*found : nullptr;
}

/// A round is finished before the next begins: its pages belong together. One that takes too long
/// for that goes on when no other port is due, and several such take turns.
ModuleSchedule::Port* ModuleSchedule::most_due(SteadyTime now) {
  Port* best = nullptr;
  Port* late = nullptr;
  for (Port& port : ports_) {
    if (port.in_round && now - port.started_at <= timing_.round_patience) return &port;
    if (port.in_round) {
      if (late == nullptr || port.turn_at < late->turn_at) late = &port;
    } else if (port.due && *port.due <= now && (best == nullptr || *port.due < *best->due)) {
      best = &port;
    }
  }
  return best != nullptr ? best : late;
}

std::optional<ModuleRead> ModuleSchedule::next(SteadyTime now) {
  if (now < quiet_until_) return std::nullopt;
  while (Port* port = most_due(now)) {
    if (!port->in_round) begin_round(*port, now);
    port->turn_at = now;
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
  port.asked_again = false;
  port.no_cable_before = port.id.no_cable;
  port.ending = false;
  port.rest.reset();
  port.change = ModuleChange::kNone;
  port.started_at = now;
  port.duration = Microseconds{0};
  const bool anew = port.doubt_at && now >= *port.doubt_at;
  if (anew && !port.doubted) port.doubted = std::move(port.image);
  port.image = anew ? ModuleImage() : without_monitors(port.image);
  if (anew) port.identified = false;
  for (const auto& [page, failure] : port.page_failures)
    if (failure.again_at && now >= *failure.again_at) {
      port.image.forget(page);
      port.identified = false;
    }
}

std::optional<ModulePageRequest> ModuleSchedule::next_page(Port& port) {
  if (port.rest) return port.rest;
  if (port.ending) return std::nullopt;
  if (!port.identified) {
    const auto identity = next_reads(port.image, ReadScope::kIdentity);
    if (!identity.empty()) return identity.front();
    port.identified = true;
  }
  const auto monitors = next_reads(port.image, ReadScope::kMonitors);
  if (!monitors.empty()) return monitors.front();
  // Last, what tells it from another: a swap between two reads would mix two modules' pages.
  const auto where = proof_request(port.image);
  if (!where) return std::nullopt;
  if (!port.proof || port.proof->where != *where) {
    const auto bytes = bytes_at(port.image, *where);
    port.proof = bytes ? std::optional(Proof{*where, *bytes}) : std::nullopt;
  }
  port.ending = port.proof.has_value();
  return port.ending ? where : std::nullopt;
}

void ModuleSchedule::done(const ModuleRead& read, const Result<std::vector<std::uint8_t>>& answer,
                          Microseconds took, SteadyTime ended, WallTime wall) {
  wall_ = wall;
  quiet_until_ = ended + std::max(std::chrono::ceil<Milliseconds>(took), kShortestPause);
  Port* port = find(read.port);
  if (port == nullptr || !port->in_round || port->id.ifindex != read.ifindex) return;
  port->duration += took;
  if (answer) {
    take_bytes(*port, read.page, *answer);
  } else {
    take_error(*port, read.page, answer.error(), ended);
  }
  if (port->in_round && port->ending && !port->rest) take_proof(*port, ended);
}

void ModuleSchedule::take_bytes(Port& port, const ModulePageRequest& page,
                                const std::vector<std::uint8_t>& bytes) {
  port.image.store(page, bytes);
  port.page_failures.erase(page);
  port.rest = rest_of(page, bytes.size());
}

void ModuleSchedule::take_error(Port& port, const ModulePageRequest& page, const Error& error,
                                SteadyTime now) {
  const bool was_rest = port.rest.has_value();
  port.rest.reset();
  // One address or page that does not answer is no empty cage: the read that proves the module at
  // the end tells.
  if (is_absent(error.errnum) && (is_lower_page(page) || is_identity_page(page) || port.ending))
    return end_absent(port, now);
  // A cage that does not answer is empty when the driver says so, too (mlx5 before 6.19 has only
  // EIO for it). Twice: one read in fifty of a module that is there fails, and the driver may mean
  // the fibre.
  const bool silent = may_pass(error.errnum) && port.id.no_cable && !port.answered;
  if (silent && is_lower_page(page) && ++port.silences > 1) return end_absent(port, now);
  if (silent && port.ending)
    return end_failed(port, error, now);  // it may have been pulled meanwhile
  // Without the identity page nothing else can be understood. What proves it at the end of a round
  // is a part of it.
  const bool needed =
      is_lower_page(page) || (is_identity_page(page) && !port.ending && !is_final(error.errnum));
  // After some bytes of this page have come already, the port and the module do answer.
  const bool of_page = was_rest || !needed;
  if (of_page && (may_pass(error.errnum) || is_final(error.errnum)))
    return pass_over(port, page, error.errnum, now);
  // Any other may be of the port as well, or of the whole bus (a stretched clock, a lost
  // arbitration), or of a kernel that was busy for 2 s (kernel_socket.h): that ends the round. When
  // one page does it kPageTries times in a row, it is the page.
  if (of_page && !port.ending) {
    PageFailure& failure = port.page_failures[page];
    if (failure.count + 1 >= kPageTries) return pass_over(port, page, error.errnum, now);
    failure.errnum = error.errnum;
    ++failure.count;
  }
  port.unsupported = error.errnum == EOPNOTSUPP;
  end_failed(port, error, now);
}

void ModuleSchedule::pass_over(Port& port, const ModulePageRequest& page, int errnum,
                               SteadyTime now) const {
  port.image.store(page, {});
  PageFailure& failure = port.page_failures[page];
  failure.errnum = errnum;
  ++failure.count;
  failure.again_at.reset();
  if (!is_final(errnum))
    failure.again_at = now + (failure.count < kPageTries ? Milliseconds{0} : timing_.longest_wait);
}

void ModuleSchedule::take_proof(Port& port, SteadyTime now) {
  const auto bytes = bytes_at(port.image, port.proof->where);
  if (bytes && *bytes != port.proof->bytes) {
    forget_module(port);
    begin_round(port, now);
    port.swapped = true;
    return;
  }
  end_good(port, now);
}

void ModuleSchedule::forget_module(Port& port) {
  port.image = ModuleImage();
  port.proof.reset();
  port.unseen.reset();
  port.doubted.reset();
  port.page_failures.clear();
  port.doubts = 0;
  port.doubt_at.reset();
  port.identified = false;
  port.flags_valid = false;
  port.laser_error_told = false;
  port.calm = {};
  port.history = {};
}

std::vector<ModuleRound> ModuleSchedule::take_finished() { return std::exchange(finished_, {}); }

}  // namespace linkhealth
