#include <cassert>

#include "diagnosis/symptoms/families.h"

namespace linkhealth {

namespace {

std::array<Symptom, kSymptomCount> collect() {
  std::array<Symptom, kSymptomCount> table{};
  for (const auto& family :
       {symptoms::kLinkFamily, symptoms::kSignalFamily, symptoms::kLightFamily, symptoms::kModuleFamily,
        symptoms::kNodeFamily, symptoms::kGroupFamily, symptoms::kTrafficFamily, symptoms::kMonitorFamily})
    for (const Symptom& row : family) table[static_cast<std::size_t>(row.id)] = row;
  for ([[maybe_unused]] const Symptom& row : table) assert(row.observe != nullptr);
  return table;
}

}  // namespace

std::span<const Symptom, kSymptomCount> symptom_table() {
  static const std::array<Symptom, kSymptomCount> kTable = collect();
  return kTable;
}

void observe_all(const PortView& view, const std::array<KnobValues, kSymptomCount>& knobs, Findings& findings) {
  const auto table = symptom_table();
  for (std::size_t i = 0; i < kSymptomCount; ++i) findings[i] = table[i].observe(view, knobs[i]);
}

}  // namespace linkhealth
