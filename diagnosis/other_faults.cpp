#include "diagnosis/other_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace linkhealth {

namespace {

/// Words for a symptom that are so far apart tell two faults apart: "often" against "sometimes".
constexpr double kTellsApart = 0.3;
constexpr double kWorthSaying = 0.005;
constexpr double kSeldom = 0.1;  // of all links that carry, or that do not

double shown_by(const Cause& cause, SymptomId symptom) {
  for (const Expectation& row : cause.expects)
    if (row.symptom == symptom) return probability(row.often);
  return probability(Often::kNever);
}

bool exists_on(const Cause& cause, const PortView& view) {
  switch (view.medium) {
    case Medium::kOptical:
      return (cause.media & (view.multimode ? kOnMultimode : kOnOptical)) != 0;
    case Medium::kAoc:
      return (cause.media & kOnAoc) != 0;
    case Medium::kCopper:
      return (cause.media & kOnCopper) != 0;
    case Medium::kUnknown:
      return (cause.media & kOnUnknown) != 0;
  }
  return false;
}

/// Whether it would be thought of at all: it explains something that shows and that the named cause
/// explains, too.
bool is_neighbour(const Cause& cause, const Cause& named, const Findings& findings) {
  const bool errors = at(findings, SymptomId::kReceiveErrors).present();
  if (errors && cause.light.errors_if_dim > 0.6) return true;
  return std::ranges::any_of(cause.expects, [&](const Expectation& row) {
    return row.often != Often::kNever && row.often != Often::kRarely &&
           at(findings, row.symptom).present() && explains(named, row.symptom);
  });
}

bool holds(const Comparison& seen) {
  if (seen.op == ">=") return seen.observed >= seen.threshold;
  if (seen.op == ">") return seen.observed > seen.threshold;
  if (seen.op == "<") return seen.observed < seen.threshold;
  return seen.observed == seen.threshold;
}

const Comparison* failed(const Finding& finding) {
  if (!finding.absent()) return nullptr;
  for (const Comparison& comparison : finding.comparisons)
    if (!holds(comparison)) return &comparison;
  return nullptr;
}

}  // namespace

std::string title_in_sentence(const Fault& fault) {
  std::string text(fault.title);
  const bool name =
      text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) != 0;  // "PCIe", "NIC"
  if (!text.empty() && !name)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::vector<RuledOut> ruled_out(const PortView& view, const Findings& findings,
                                const RankedFault& named, std::size_t most) {
  const auto prior = [&view](const Cause& cause) {
    return view.down ? cause.prior_down : cause.prior_up;
  };
  std::vector<const Cause*> others;
  for (const Cause& cause : cause_table())
    if (cause.end != End::kNone && prior(cause) > kSeldom && cause.fault != "monitor_blind" &&
        cause.fault != named.fault->name && exists_on(cause, view) &&
        is_neighbour(cause, *named.cause, findings))
      others.push_back(&cause);
  std::ranges::stable_sort(
      others, [&prior](const Cause* a, const Cause* b) { return prior(*a) > prior(*b); });
  std::vector<RuledOut> found;
  for (const Cause* other : others)
    for (const Expectation& row : other->expects) {
      const Comparison* const seen = failed(at(findings, row.symptom));
      if (row.often != Often::kAlways || seen == nullptr || explains(*named.cause, row.symptom))
        continue;
      const Fault* const fault = &find_fault(other->fault, other->end);
      const bool said = std::ranges::any_of(found, [&](const RuledOut& one) {
        return one.symptom != row.symptom && std::ranges::count(one.faults, fault) > 0;
      });
      if (said) continue;
      const auto known = std::ranges::find_if(
          found, [&row](const RuledOut& one) { return one.symptom == row.symptom; });
      if (known == found.end())
        found.push_back({row.symptom, *seen, {fault}});
      else if (known->faults.size() < 2 && std::ranges::count(known->faults, fault) == 0)
        known->faults.push_back(fault);
    }
  if (found.size() > most) found.resize(most);
  return found;
}

std::string decides(const Differential& differential, const RankedFault& named, SymptomId symptom) {
  const double own = shown_by(*named.cause, symptom);
  std::string text;
  for (const RankedFault& other : differential.ranked) {
    if (other.fault == named.fault || other.confidence < kWorthSaying) continue;
    if (std::abs(shown_by(*other.cause, symptom) - own) < kTellsApart) continue;
    text += fmt::format("{}{} ({:.0f}%)", text.empty() ? "" : ", ", title_in_sentence(*other.fault),
                        std::max(other.confidence * 100, 1.0));
  }
  return text;
}

}  // namespace linkhealth
