// A fault has a title (runbooks, alerts) and a name (terminal, page, JSON): people must see that
// they are one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "diagnosis/faults.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

TEST(FaultTitles, HaveAWordOfTheirName) {
  for (const Fault& fault : fault_table()) {
    const std::string name = lower(format_name(fault.name)), title = lower(fault.title);
    const auto words = split(name, ' ');
    EXPECT_TRUE(std::ranges::any_of(words,
                                    [&](std::string_view word) {
                                      return word != "far" && word != "port" &&
                                             title.find(word) != std::string::npos;
                                    }))
        << fault.title << " is called " << name;
  }
}

}  // namespace
}  // namespace linkhealth
