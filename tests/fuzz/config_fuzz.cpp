// Any text is a configuration or one error with a line; what was read can be dumped, and loads to
// the same.
#include <array>
#include <cstdint>
#include <cstdlib>

#include "config/config.h"

namespace {

using namespace linkhealth;

constexpr std::array<Setting, 2> kSettings = {
    {{"min_changes", 4, 2, 1000, "", "losses"}, {"window_s", 60, 6, 600, "s", "w"}}};
constexpr std::array<SettingGroup, 2> kGroups = {{{"diagnosis", kSettings}, {"ledger", kSettings}}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config =
      load_config({reinterpret_cast<const char*>(data), size}, "fuzz.yaml", kGroups);
  if (!config) {
    if (!config.error().message.starts_with("fuzz.yaml:")) std::abort();
    return 0;
  }
  const std::string once = dump_config(*config);
  const auto again = load_config(once, "again.yaml", kGroups);
  if (!again || dump_config(*again) != once) std::abort();
  return 0;
}
