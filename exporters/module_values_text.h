// What module_text() is put together from: rows, and the values of VDM and of coherent modules as
// rows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.h"

namespace linkhealth {

/// The parts that are not empty.
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// A line with its name; "" without a value.
std::string row(std::string_view name, const std::string& value);

/// `text` with no line wider than `width`: one that is goes on under its own text, broken where it
/// parts best. Colours take no room.
std::string fitted(std::string_view text, std::size_t width);

/// The values that a module measures of its signal (CMIS VDM), with an empty line before; "" for
/// one that measures none.
std::string vdm_text(const ModuleSample& m);
/// The same of a coherent module's monitors and statistics.
std::string coherent_text(const ModuleSample& m);

}  // namespace linkhealth
