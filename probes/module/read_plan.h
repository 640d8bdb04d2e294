// Which half pages to read next from a module: a pure function of what was read so far. Each is
// read whole. The reader calls next_reads() after each answer until nothing is left, so the order
// of discovery (identifier, advertisement, page) is here and not in a thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/module/image.h"

namespace linkhealth {

/// The half pages to read now, most important first; empty when there is nothing more to read. None
/// was answered already, none is not advertised, and no monitors of a module that cannot have them
/// (passive copper, flat memory).
std::vector<ModulePageKey> next_reads(const ModuleImage& image);

/// A copy of `image` without the pages whose content changes (monitors, flags, states): the start
/// of a new round. A page that was answered with nothing stays answered.
ModuleImage without_monitors(const ModuleImage& image);

/// What distinguishes this module from the next: part and serial number, in one firmware access; of
/// a module of which these are not known its first two bytes. The reader compares it at the end of
/// a round: a swap between two reads would mix two modules' pages. nullopt while nothing is known.
std::optional<ModulePageRequest> identity_request(const ModuleImage& image);

/// Why `image` is of no use though its reads succeeded: "no data: the lower page is all zeros", as
/// a module answers that was inserted a second ago; "" where it is of use.
std::string why_nothing_known(const ModuleImage& image);

/// A page that does not change was screened out: a module that was inserted a moment ago gives such
/// answers.
bool identity_is_doubtful(const ModuleImage& image);

}  // namespace linkhealth
