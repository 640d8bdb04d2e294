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

}  // namespace

std::span<const Symptom, kSymptomCount> symptom_table() {
  static const std::array<Symptom, kSymptomCount> kTable = collect();
  return kTable;
}

Finding observe(SymptomId id, const Features& features) {
  const Symptom& row = symptom(id);
  if (row.state == LinkState::kDown && !features.down) return not_applicable("the link is up");
  if (row.state == LinkState::kUp && !features.up) return not_applicable("the link is down");
  return row.observe(features);
}

Findings observe_all(const Features& features) {
  Findings findings;
  for (std::size_t i = 0; i < kSymptomCount; ++i)
    findings[i] = observe(static_cast<SymptomId>(i), features);
  return findings;
}

std::optional<bool> receive_errors(const Findings& findings) {
  const Finding& errors = at(findings, SymptomId::kReceiveErrors);
  const Finding& losses = at(findings, SymptomId::kLosingData);
  if (errors.present() || losses.present()) return true;
  if (errors.absent() || losses.absent()) return false;
  return std::nullopt;
}

std::string_view to_string(Verdict verdict) {
  return verdict == Verdict::kPresent  ? "present"
         : verdict == Verdict::kAbsent ? "absent"
                                       : "unknown";
}

std::string_view to_string(EvidenceSource kind) {
  constexpr std::array<std::string_view, kEvidenceSourceCount> kWords = {
      "link state",
      "down reason",
      "FEC counters",
      "port counters",
      "module",
      "PCIe",
      "events",
      "far link",
      "far counters",
      "far module",
      "cabling plan",
      "monitor",
      "other ports of this node"};
  return kWords.at(static_cast<std::size_t>(kind));
}

}  // namespace linkhealth
