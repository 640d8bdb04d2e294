#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace linkhealth::test {

void expect_golden(const std::string& path, std::string_view actual) {
  const std::string full = std::string(LINKHEALTH_SOURCE_DIR) + "/" + path;
  if (std::getenv("LINKHEALTH_ACCEPT") != nullptr) {
    std::ofstream(full, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(full, std::ios::binary);
  const std::string expected((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
  EXPECT_EQ(expected, actual)
      << path << " differs; if the new text is right: LINKHEALTH_ACCEPT=1 and run again";
}

}  // namespace linkhealth::test
