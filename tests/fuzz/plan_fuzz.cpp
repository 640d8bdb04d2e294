// Any text is a plan, or one error that names the line.
#include <cstdint>
#include <cstdlib>

#include "config/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linkhealth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto csv = parse_plan_csv(text, "fuzz.csv");
  if (!csv && !csv.error().message.starts_with("fuzz.csv:")) std::abort();
  const auto yaml = parse_plan_yaml(text, "fuzz.yaml");
  if (!yaml && !yaml.error().message.starts_with("fuzz.yaml:")) std::abort();
  return 0;
}
