// Which faults can be told apart with what a port lets see: a symptom whose sources are all hidden
// stays unknown for ever, and faults that differ in nothing else stay one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "diagnosis/faults.h"

namespace linkhealth {

/// Where a symptom's readings come from.
enum class Sight : std::uint8_t {
  kLink,
  kDownReason,
  kFec,
  kCounters,
  kModule,
  kPcie,
  kEvents,
  kFarLink,
  kFarCounters,
  kFarModule,
  kPlan,
};
inline constexpr std::size_t kSightCount = static_cast<std::size_t>(Sight::kPlan) + 1;
/// For people: "the far module".
std::string_view words(Sight sight);

/// A set of them: bit i is the Sight i.
using Sights = std::uint32_t;
constexpr Sights bit(Sight sight) { return Sights{1} << static_cast<unsigned>(sight); }
inline constexpr Sights kAllSights = (Sights{1} << kSightCount) - 1;

/// Any of these is enough to see the symptom; 0: the monitor itself sees it.
Sights sights_of(SymptomId symptom);
/// False for a symptom that the table of sights does not list (a test finds it).
bool has_sights(SymptomId symptom);

/// Two faults that everything together would tell apart, and `seen` does not.
struct Blur {
  const Fault* a = nullptr;  ///< "healthy" first: then b is not noticed
  const Fault* b = nullptr;
  Sights needs = 0;  ///< what is hidden and would tell most
};
std::vector<Blur> blurs(Sights seen);

}  // namespace linkhealth
