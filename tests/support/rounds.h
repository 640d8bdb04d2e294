// How often a reliability test is repeated: a few times in everyday runs, and as often as
// docs/reliability.md states with LINKHEALTH_ALL=1, as `./test --all` sets it.
#pragma once

#include <cstdlib>

namespace linkhealth::test {

inline int rounds(int quick, int all) {
  return std::getenv("LINKHEALTH_ALL") != nullptr ? all : quick;
}

}  // namespace linkhealth::test
