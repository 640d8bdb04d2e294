// What to read next from a module: a pure function of what was read so far. The reader asks again
// after each batch until nothing is left, so the order of discovery (identifier, advertisement,
// page) lives here and not in a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/module/image.h"

namespace linkhealth {

enum class ReadScope : std::uint8_t {
  kIdentity,  ///< what never changes while the module stays in: once for each insertion
  kMonitors,  ///< what moves: monitors, flags, states, VDM values. Reading latched flags clears
              ///< them
};

/// The requests to make now, most important first; empty when there is nothing more to read. Each
/// obeys the kernel's rules (is_valid), and none was answered already. Pages that the module does
/// not advertise are never asked for; monitors that a module cannot have (passive copper, flat
/// memory) are not either.
std::vector<ModulePageRequest> next_reads(const ModuleImage& image, ReadScope scope);

/// A copy of `image` without the bytes that move: the start of a new round with
/// ReadScope::kMonitors. Requests that were answered with nothing stay answered: a reader stores an
/// empty answer for a page that is not there (EINVAL, EOPNOTSUPP), and after an error that may pass
/// (EIO, EBUSY) gives up the round instead.
ModuleImage without_monitors(const ModuleImage& image);

/// A copy of `image` without the limits of a CMIS module (pages 02h and 28h to 2Bh): they may be
/// others since another application runs, or since its data path came up (CMIS 5.4 7.1.3.2, 8.5).
ModuleImage without_limits(const ModuleImage& image);

/// What tells this module from the next: part and serial number, in one firmware access; of a
/// module of which these are not known its first two bytes. Reading it after a round and comparing
/// shows a swap between two reads, which would mix two modules' pages, and an empty cage. nullopt
/// while nothing is known.
std::optional<ModulePageRequest> proof_request(const ModuleImage& image);

/// Why `image` is of no use though its reads succeeded: "no data: the lower page is all zeros", as
/// a module answers that was put in a second ago; "" where it is of use.
std::string why_nothing_known(const ModuleImage& image);

/// A page of ReadScope::kIdentity answered what can't be (screened out): a module that was put in a
/// moment ago does so.
bool identity_is_doubtful(const ModuleImage& image);

}  // namespace linkhealth
