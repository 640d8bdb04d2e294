#include "exporters/explain_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr double kTooLittle = 0.05;  // nats: odds of 1.05 to 1

/// "19 to 1", "1 to 2.7"
std::string odds_words(double nats) {
  const double odds = std::exp(std::min(std::abs(nats), 20.0));
  const std::string number = odds < 10 ? fmt::format("{:.1f}", odds) : fmt::format("{:.0f}", odds);
  return nats >= 0 ? number + " to 1" : "1 to " + number;
}

}  // namespace

std::vector<std::string> share_lines(const FaultReport& fault, const TextStyle& style) {
  if (!fault.shares || fault.shares->shares.empty()) return {};
  struct Row {
    std::string name;
    double nats;
  };
  std::vector<Row> rows;
  double small = 0, sum = 0;
  for (const EvidenceShare& share : fault.shares->shares) {
    sum += share.nats;
    if (std::abs(share.nats) < kTooLittle)
      small += share.nats;
    else
      rows.push_back({(share.nats > 0 ? "+ " : "- ") + name_words(share.symptom), share.nats});
  }
  if (std::abs(small) >= 0.005)
    rows.push_back({small > 0 ? "+ all others" : "- all others", small});
  rows.push_back({"= together", sum});
  std::string title =
      fmt::format("For {} against {}", name_words(fault.fault), name_words(fault.shares->against));
  if (fault.shares->end == End::kFar || fault.shares->end == End::kLocal)
    title += fmt::format(" ({})", to_string(fault.shares->end));
  std::size_t name = display_width(title);
  for (const Row& row : rows) name = std::max(name, display_width(row.name));
  std::vector<std::string> lines{
      "", paint_faint(fmt::format("  {}  {:>8}  odds", pad_right(title, name), "log-odds"), style)};
  for (const Row& row : rows)
    lines.push_back(clean_text(fmt::format("  {}  {:>+8.2f}  {}", pad_right(row.name, name),
                                           row.nats, odds_words(row.nats)),
                               style.ascii));
  return lines;
}

}  // namespace linkhealth
