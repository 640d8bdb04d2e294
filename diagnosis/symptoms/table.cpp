#include <algorithm>
#include <array>
#include <cassert>

#include "diagnosis/symptoms/families.h"

namespace linkhealth {

namespace {

std::array<Symptom, kSymptomCount> collect() {
  std::array<Symptom, kSymptomCount> table{};
  for (const auto& family : {symptoms::kLinkFamily, symptoms::kSignalFamily, symptoms::kLightFamily,
                             symptoms::kModuleFamily, symptoms::kNodeFamily, symptoms::kGroupFamily,
                             symptoms::kTrafficFamily, symptoms::kMonitorFamily})
    for (const Symptom& row : family) table[static_cast<std::size_t>(row.id)] = row;
  for ([[maybe_unused]] const Symptom& row : table) assert(row.observe != nullptr);
  return table;
}

using Observe = decltype(Symptom::observe);
/// Alone: a row is longer than a line of the processor's cache, and each second all of them are
/// called for each port.
std::array<Observe, kSymptomCount> collect_observers() {
  std::array<Observe, kSymptomCount> observers{};
  std::ranges::transform(symptom_table(), observers.begin(), &Symptom::observe);
  return observers;
}

}  // namespace

std::span<const Symptom, kSymptomCount> symptom_table() {
  static const std::array<Symptom, kSymptomCount> kTable = collect();
  return kTable;
}

void observe_all(const PortView& view, const std::array<KnobValues, kSymptomCount>& knobs,
                 Findings& findings) {
  static const std::array<Observe, kSymptomCount> kObservers = collect_observers();
  for (std::size_t i = 0; i < kSymptomCount; ++i) findings[i] = kObservers[i](view, knobs[i]);
}

}  // namespace linkhealth
