// What module_text() says of where lanes are: on which fibre, and where a loopback turns them back.
#pragma once

#include <string>

#include "model/snapshot.h"

namespace linkhealth {

/// "lanes 1 to 4 on fibre 1, lanes 5 to 8 on fibre 2, as the module counts them"; "" where it does
/// not say, and of cables, whose fibres nobody can take out.
std::string fibre_words(const ModuleSample& m);
/// "at the media side's output, lanes 1 to 4, back to the host".
std::string loopback_words(const ModuleSample& m);

}  // namespace linkhealth
