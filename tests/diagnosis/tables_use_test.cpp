// What each row of the two tables is for: a symptom that never changes a diagnosis, or a cause that
// never gives a fault its name, would be clutter.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "diagnosis/likelihood.h"
#include "diagnosis/questions.h"

namespace linkhealth {
namespace {

using enum SymptomId;

/// What a cause usually shows, on a port of its own.
struct Usual {
  PortHistory port;
  DiagnosisSettings settings;
  Features view{port, settings};
  Findings findings;

  /// `also`: and this, which it shows sometimes.
  Usual(const Cause& cause, bool up, Medium medium, bool multimode,
        std::optional<SymptomId> also = {}) {
    view.medium = medium;
    view.multimode = multimode;
    view.of_provider = cause.fault == FaultId::kProviderLink;
    view.up = up;
    view.down = !up;
    view.now = port.first_seen + from_seconds(600);
    port.latest.link = LinkSample{};
    port.latest.link->fec = "RS544";
    const auto place = static_cast<LightLoss>(std::ranges::max_element(cause.light.loss) -
                                              cause.light.loss.begin());
    if (up) lose_light(place);
    const bool dim =
        place == LightLoss::kIncoming || place == LightLoss::kBoth || place == LightLoss::kFarLaser;
    const double errors = dim ? cause.light.errors_if_dim : cause.light.errors_if_bright;
    bool reason_given = false;
    for (const Symptom& row : symptom_table()) {
      if (row.state != LinkState::kAny && (row.state == LinkState::kUp) != up) continue;
      bool shows =
          cause.expects.always.has(row.id) || cause.expects.often.has(row.id) || row.id == also;
      if (row.id == kReceiveErrors) shows = up && errors > 0.5;
      if (row.id == kLinkDown) shows = !up;
      if (kDownReasons.has(row.id))
        shows = !up && shows && !std::exchange(reason_given, reason_given || shows);
      see(row.id, shows ? Verdict::kPresent : Verdict::kAbsent);
    }
  }
  void see(SymptomId id, Verdict verdict) {
    findings[static_cast<std::size_t>(id)].verdict = verdict;
  }
  void lose_light(LightLoss place) {
    const auto loss = [&](std::initializer_list<LightLoss> where) {
      return LightLossEstimate{std::ranges::count(where, place) > 0 ? 4.0 : 0.0, 0.2, 1};
    };
    using enum LightLoss;
    view.light.rx = loss({kIncoming, kBoth, kFarLaser});
    view.light.far_rx = loss({kOutgoing, kBoth, kOwnLaser});
    view.light.far_tx = loss({kFarLaser});
    view.light.tx = loss({kOwnLaser});
  }
  [[nodiscard]] Differential rank() { return differentiate({view, findings}); }
};

template <typename Do>
void for_each_usual(const Cause& cause, Do use, std::optional<SymptomId> also = {}) {
  constexpr double kComes = 0.02;
  const std::tuple<Medium, bool, std::uint8_t> media[] = {{Medium::kOptical, false, kOnOptical},
                                                          {Medium::kOptical, true, kOnMultimode},
                                                          {Medium::kAoc, false, kOnAoc},
                                                          {Medium::kCopper, false, kOnCopper},
                                                          {Medium::kUnknown, false, kOnUnknown}};
  for (const bool up : {true, false})
    for (const auto& [medium, multimode, bit] : media)
      if ((cause.media & bit) != 0 && prior(cause, !up) > kComes) {
        Usual scene(cause, up, medium, multimode, also);
        use(scene);
      }
}

TEST(Tables, EachCauseIsNamed) {
  for (const Cause& cause : cause_table().subspan(1)) {
    bool named = false;
    for_each_usual(cause, [&](Usual& scene) {
      constexpr double kNamed = 0.15;  // of names that cannot be told apart
      named = named || scene.rank().posterior[index_of(cause)] > kNamed;
    });
    EXPECT_TRUE(named) << cause.name;
  }
}

/// The name that would be shown, and whether it is sure; "" when nothing opens.
std::string name_of(const Differential& seen) {
  constexpr double kSure = 0.8;
  if (1 - seen.healthy < DiagnosisSettings().open_at) return "";
  const RankedFault& first = seen.ranked.front();
  return std::string(first.fault->title) + (first.confidence < kSure ? "?" : "");
}

/// What the symptom says is not known. The driver's reason is one reading; so is each power.
void hide(SymptomId symptom, Usual& scene) {
  LightStats& light = scene.view.light;
  if (symptom == kLightLow) light.rx.reset();
  if (symptom == kTxLow) light.tx.reset();
  if (symptom == kFarRxLow) light.far_rx.reset();
  if (symptom == kFarTxLow) light.far_tx.reset();
  for (const Symptom& row : symptom_table())
    if (row.id == symptom || (kDownReasons.has(row.id) && kDownReasons.has(symptom)))
      scene.see(row.id, Verdict::kUnknown);
}

/// Readings of one matter: where one of them is there, the others need not be.
constexpr SymptomSet kFalls{kGroupDown, kModuleFell, kCardFell, kNodeFell, kFellTogether};
constexpr SymptomSet kSent{kTxLow, kTxOff, kTxFault}, kFarSent{kFarTxLow, kFarTxOff};

/// On a node that can read only what the symptom needs, and the state of the link and of the light
/// here.
bool changes_the_name(const Symptom& symptom, bool light_too, Usual& scene) {
  EvidenceSources seen = symptom.sources;
  seen.add(EvidenceSource::kLink);
  if (light_too) seen.add(EvidenceSource::kModule | EvidenceSource::kFec);
  for (const Symptom& row : symptom_table())
    if (row.id != symptom.id && !row.sources.has_any(seen)) hide(row.id, scene);
  if (!seen.has(EvidenceSource::kModule)) hide(kLightLow, scene), hide(kTxLow, scene);
  if (!seen.has(EvidenceSource::kFarModule)) hide(kFarRxLow, scene), hide(kFarTxLow, scene);
  for (const SymptomSet& alike : {kFalls, kSent, kFarSent})
    for (const Symptom& row : symptom_table())
      if (alike.has(symptom.id) && alike.has(row.id) && row.id != symptom.id) hide(row.id, scene);
  if (at(scene.findings, symptom.id).unknown()) return false;
  const std::string with = name_of(scene.rank());
  hide(symptom.id, scene);
  return name_of(scene.rank()) != with;
}

TEST(Tables, EachSymptomChangesAName) {
  for (const Symptom& row : symptom_table()) {
    if (row.id == kLinkDown) continue;  // it chooses the priors
    bool changes = false;
    for (const Cause& cause : cause_table())
      for (const bool light_too : {false, true})
        for_each_usual(
            cause,
            [&](Usual& scene) { changes = changes || changes_the_name(row, light_too, scene); },
            cause.expects.sometimes.has(row.id) ? std::optional(row.id) : std::nullopt);
    EXPECT_TRUE(changes) << row.name;
  }
}

}  // namespace
}  // namespace linkhealth
