// Which half pages of a module to read next: a pure function of what was read so far. Each is read
// whole. The reader calls next_reads() after each answer until nothing is left, so that the order
// of discovery (identifier, advertisement, page) is decided here and not in a thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/module/image.h"

namespace linkhealth {

/// The half pages to read now, most important first; empty if nothing is left. Excludes those that
/// were answered, those that are not advertised, and monitors of a module that cannot have them
/// (passive copper, flat memory).
std::vector<ModulePageKey> next_reads(const ModuleImage& image);

/// A copy of `image` without the pages whose content changes (monitors, flags, states): the start
/// of a new round. A page that was answered without bytes stays answered.
ModuleImage without_monitors(const ModuleImage& image);

/// The read that identifies the module: part and serial number, in one firmware access; if these
/// are unknown, its first two bytes. The reader compares it at the end of a round, because a swap
/// between two reads would mix two modules' pages. nullopt while nothing is known.
std::optional<ModulePageRequest> identity_request(const ModuleImage& image);

/// Why `image` is useless although its reads succeeded: "no data: the lower page is all zeros", as
/// from a module that was inserted a second ago; "" if it is usable.
std::string why_nothing_known(const ModuleImage& image);

/// Whether a constant page was screened out: a module that has just been inserted gives such
/// answers.
bool identity_is_doubtful(const ModuleImage& image);

}  // namespace linkhealth
