// The far ends compared with the plan. Two cables that are plugged into each other's ports are one
// finding: a swap.
#pragma once

#include <string>
#include <vector>

#include "exporters/text/text_style.h"
#include "model/report.h"

namespace linkhealth {

enum class CablingMatch : std::uint8_t {
  kAsPlanned,
  kSwapped,    ///< this port and another have each other's cable
  kWrong,      ///< it ends elsewhere
  kUnplanned,  ///< there is a far end, but no entry in the plan
  kUnseen,     ///< the far end does not identify itself
  kExempt,
  kUnknown,  ///< no plan and no far end, or names that cannot be compared
};
/// "as_planned", "swapped", …
std::string_view to_string(CablingMatch match);

struct CablingRow {
  PortKey port;
  std::string netdev, planned, seen, source;
  CablingMatch match = CablingMatch::kUnknown;
  std::string text;  ///< "swapped with mlx5_4/1"
};

std::vector<CablingRow> compare_cabling(const Report& report);
/// Number of rows that need rework: swapped or wrong.
std::size_t count_wrong(const std::vector<CablingRow>& rows);
std::string cabling_text(const Report& report, const std::vector<CablingRow>& rows,
                         const TextStyle& style);
/// docs/schema/cabling.json
std::string cabling_json(const Report& report, const std::vector<CablingRow>& rows);

}  // namespace linkhealth
