#include "diagnosis/observability.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace linkhealth {

namespace {

using enum SymptomId;

// Two faults count as told apart when the readings shift the odds between them by so many nats in
// each direction on average (half the symmetric Kullback-Leibler divergence of their symptoms): 2
// nats are odds of 7 to 1.
constexpr double kToldApartNats = 2;

constexpr Sights kL = bit(Sight::kLink), kD = bit(Sight::kDownReason), kF = bit(Sight::kFec),
                 kC = bit(Sight::kCounters), kM = bit(Sight::kModule), kP = bit(Sight::kPcie),
                 kE = bit(Sight::kEvents), kFarL = bit(Sight::kFarLink),
                 kFarC = bit(Sight::kFarCounters), kFarM = bit(Sight::kFarModule),
                 kPl = bit(Sight::kPlan);

struct Row {
  SymptomId symptom;
  Sights any_of;
};
constexpr Row kRows[] = {
    {kAdminDown, kL},
    {kLinkDown, kL},
    {kFlaps, kL},
    {kSpeedReduced, kL},
    {kNoPartner, kD},
    {kNegotiationFails, kD},
    {kTrainingFails, kD},
    {kNoFecLock, kD},
    {kNoPcsLock, kD},
    {kBadSignal, kD},
    {kRemoteFault, kD},
    {kNoCableReported, kD},
    {kUnsupportedReported, kD},
    {kModuleFaultReported, kD | kM},
    {kOverheatReported, kD},
    {kSettingsTouched, kL},
    {kReceiveErrors, kF | kC},
    {kLosingData, kF | kC},
    {kOneLaneErrors, kF},
    {kErrorBursts, kF | kC},
    {kErrorsBeforeFall, kF},
    {kLinkRecoveries, kC},
    {kFarErrors, kFarC},
    {kSnrLow, kM},
    {kNoLight, kM},
    {kSomeLanesDark, kM},
    {kLightThere, kM},
    {kLightLow, kM},
    {kFibresAlike, kM},
    {kLaneReadsDark, kM},
    {kTxLow, kM},
    {kTxFault, kM},
    {kBiasHigh, kM},
    {kLaserTires, kM},
    {kTxOff, kM},
    {kFarTxLow, kFarM},
    {kFarTxOff, kFarM},
    {kFarSendsUnheard, kFarM},
    {kFarRxLow, kFarM},
    {kFarRxDark, kFarM},
    {kNoLockWithLight, kM},
    {kModuleAbsent, kM | kD},
    {kModuleState, kM},
    {kModuleHot, kM},
    {kModuleNew, kM},
    {kSupplyLow, kM},
    {kSupplyShared, kM},
    {kFarAdminDown, kFarL},
    {kFarModuleAbsent, kFarM},
    {kNeighbourDiffers, kPl},
    {kPcieReduced, kP},
    {kPcieErrors, kP},
    {kDeviceFatal, kE},
    {kDeviceGone, 0},
    {kNicHot, kE},
    {kSlotPower, kE},
    {kPcieLost, kE},
    {kCardErrors, kC},
    {kGroupDown, kL},
    {kGroupFlaps, kL},
    {kGroupErrors, kF | kC},
    {kCongested, kC},
    {kHostDrops, kC},
    {kRetries, kC},
    {kForwardedErrors, kC},
    {kCountersBlind, 0},
    {kModuleBlind, 0},
};

const Row* find(SymptomId symptom) {
  const Row* const row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [symptom](const Row& each) { return each.symptom == symptom; });
  return row == std::end(kRows) ? nullptr : row;
}

/// P(symptom | cause), with the light of the joint row spelled out.
double probability_of(const Cause& cause, SymptomId symptom) {
  const auto& loss = cause.light.loss;
  const auto lost = [&loss](std::initializer_list<LightLoss> places) {
    double sum = 0;
    for (const LightLoss place : places) sum += loss[static_cast<std::size_t>(place)];
    return sum;
  };
  const double dim = lost({LightLoss::kIncoming, LightLoss::kBoth, LightLoss::kFarLaser});
  if (symptom == kLightLow) return dim;
  if (symptom == kTxLow) return lost({LightLoss::kOwnLaser});
  if (symptom == kFarTxLow) return lost({LightLoss::kFarLaser});
  if (symptom == kFarRxLow)
    return lost({LightLoss::kOutgoing, LightLoss::kBoth, LightLoss::kOwnLaser});
  if (symptom == kLinkDown) return cause.prior_down / (cause.prior_up + cause.prior_down);
  if (symptom == kReceiveErrors)
    return dim * cause.light.errors_if_dim + (1 - dim) * cause.light.errors_if_bright;
  for (const Expectation& row : cause.expects)
    if (row.symptom == symptom) return probability(row.often);
  const bool decisive =
      std::any_of(cause.decisive.begin(), cause.decisive.end(),
                  [symptom](const Decisive& row) { return row.symptom == symptom; });
  return decisive ? probability(Often::kOften) : probability(Often::kNever);
}

using Shows = std::array<double, kSymptomCount>;

/// What a fault shows: its causes, by how common they are.
Shows shows_of(const Fault& fault) {
  Shows shows{};
  double weight = 0;
  for (const Cause& cause : cause_table()) {
    if (cause.fault != fault.name || cause.end != fault.end) continue;
    const double prior = cause.prior_up + cause.prior_down;
    weight += prior;
    for (std::size_t i = 0; i < kSymptomCount; ++i)
      shows[i] += prior * probability_of(cause, static_cast<SymptomId>(i));
  }
  for (double& value : shows) value = std::clamp(weight > 0 ? value / weight : 0.5, 0.005, 0.995);
  return shows;
}

std::uint8_t media_of(const Fault& fault) {
  std::uint8_t media = 0;
  for (const Cause& cause : cause_table())
    if (cause.fault == fault.name && cause.end == fault.end) media |= cause.media;
  return media;
}

double nats(double a, double b) {
  return (a - b) * (std::log(a / (1 - a)) - std::log(b / (1 - b)));
}

/// The pair, when all readings would tell it and those of `seen` do not.
std::optional<Blur> blur_of(const Fault& a, const Shows& shows_a, const Fault& b,
                            const Shows& shows_b, Sights seen) {
  double all = 0;
  double visible = 0;
  std::array<double, kSightCount> hidden{};
  for (std::size_t i = 0; i < kSymptomCount; ++i) {
    const double gain = nats(shows_a[i], shows_b[i]);
    all += gain;
    const Sights needs = sights_of(static_cast<SymptomId>(i));
    if (needs == 0 || (needs & seen) != 0) {
      visible += gain;
      continue;
    }
    for (std::size_t sight = 0; sight < kSightCount; ++sight)
      if ((needs >> sight & 1U) != 0) hidden[sight] += gain;
  }
  if (visible / 2 >= kToldApartNats || all / 2 < kToldApartNats) return std::nullopt;
  const auto best =
      static_cast<unsigned>(std::max_element(hidden.begin(), hidden.end()) - hidden.begin());
  return Blur{&a, &b, Sights{1} << best};
}

}  // namespace

std::string_view words(Sight sight) {
  constexpr std::array<std::string_view, kSightCount> kWords = {
      "the link's state", "the kernel's reason for a link that is down",
      "FEC counters",     "port counters",
      "the module",       "PCIe",
      "driver events",    "the far port's state",
      "far counters",     "the far module",
      "a cabling plan"};
  return kWords[static_cast<std::size_t>(sight)];
}

Sights sights_of(SymptomId symptom) {
  const Row* const row = find(symptom);
  return row == nullptr ? bit(Sight::kLink) : row->any_of;
}

bool has_sights(SymptomId symptom) { return find(symptom) != nullptr; }

std::vector<Blur> blurs(Sights seen) {
  const auto faults = fault_table();
  std::vector<Shows> shows;
  shows.reserve(faults.size());
  for (const Fault& fault : faults) shows.push_back(shows_of(fault));
  std::vector<Blur> found;
  for (std::size_t a = 0; a < faults.size(); ++a)
    for (std::size_t b = a + 1; b < faults.size(); ++b) {
      if ((media_of(faults[a]) & media_of(faults[b])) == 0) continue;
      if (const auto blur = blur_of(faults[a], shows[a], faults[b], shows[b], seen))
        found.push_back(*blur);
    }
  return found;
}

}  // namespace linkhealth
