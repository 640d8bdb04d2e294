// Golden files: the output of a function, stored under tests/golden/ and compared byte for byte.
// LINKHEALTH_ACCEPT=1 in the environment rewrites them; look at the difference before you commit
// it.
#pragma once

#include <string>
#include <string_view>

namespace linkhealth::test {

/// Fails the test if `path` (below the source folder) does not contain exactly `actual`.
void expect_golden(const std::string& path, std::string_view actual);

}  // namespace linkhealth::test
