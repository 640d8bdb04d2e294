// Any text is a plan or one error with a line, and what was read is written and read again as the
// same; any text is the output of ibnetdiscover or lldpctl, or refused.
#include <cstdint>
#include <cstdlib>

#include "config/plan.h"
#include "config/plan_learn.h"

namespace {

using namespace linkhealth;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<PlanRow> without_lines(std::vector<PlanRow> rows) {
  for (PlanRow& row : rows) row.line = 0;
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rows = parse_plan_csv(text, "fuzz.csv");
  if (!rows) {
    require(rows.error().message.starts_with("fuzz.csv:"));
  } else {
    const auto again = parse_plan_csv(plan_csv(*rows), "again.csv");
    require(again.ok() && without_lines(*again) == without_lines(*rows));
  }
  if (const auto yaml = parse_plan_yaml(text, "fuzz.yaml"); !yaml)
    require(yaml.error().message.starts_with("fuzz.yaml:"));
  static_cast<void>(learn_from_ibnetdiscover(text));
  static_cast<void>(learn_from_lldpctl(text, "node"));
  return 0;
}
