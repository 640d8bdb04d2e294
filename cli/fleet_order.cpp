#include <algorithm>
#include <cctype>
#include <tuple>

#include "cli/fleet.h"

namespace linkhealth::cli {

namespace {

int weight(std::string_view severity) {
  return severity == "critical" ? 2 : severity == "warning" ? 1 : 0;
}

/// "r2" before "r12": runs of digits as numbers.
bool before(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    const std::size_t from_a = i, from_b = j;
    while (i < a.size() && digit(a[i])) ++i;
    while (j < b.size() && digit(b[j])) ++j;
    if (i - from_a != j - from_b) return i - from_a < j - from_b;
    const int order = a.substr(from_a, i - from_a).compare(b.substr(from_b, j - from_b));
    if (order != 0) return order < 0;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace

std::uint64_t FleetGroup::count(const std::string& health) const {
  const auto found = links.find(health);
  return found == links.end() ? 0 : found->second;
}

std::uint64_t FleetGroup::all() const {
  std::uint64_t sum = 0;
  for (const auto& [health, number] : links) sum += number;
  return sum;
}

void rank_by_cost(std::vector<FleetFault>& faults) {
  const auto key = [](const FleetFault& fault) {
    return std::tuple(-fault.lost_bytes_per_s, -weight(fault.severity), -fault.confidence,
                      fault.opened_at.value_or(WallTime::max()));
  };
  std::stable_sort(faults.begin(), faults.end(), [&](const FleetFault& a, const FleetFault& b) {
    const auto one = key(a), other = key(b);
    if (one != other) return one < other;
    return std::tie(a.instance, a.device, a.port, a.fault, a.end) <
           std::tie(b.instance, b.device, b.port, b.fault, b.end);
  });
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i].rank = i + 1;
}

std::vector<FleetFault> in_walking_order(std::vector<FleetFault> faults) {
  std::erase_if(faults, [](const FleetFault& fault) {
    return fault.severity == "notice" || !fault.shared.empty();
  });
  std::stable_sort(faults.begin(), faults.end(), [](const FleetFault& a, const FleetFault& b) {
    for (std::string FleetFault::*part :
         {&FleetFault::pod, &FleetFault::row, &FleetFault::rack, &FleetFault::u,
          &FleetFault::instance, &FleetFault::device, &FleetFault::port})
      if (a.*part != b.*part) return before(a.*part, b.*part);
    return a.rank < b.rank;
  });
  return faults;
}

}  // namespace linkhealth::cli
