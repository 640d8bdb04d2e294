#include "diagnosis/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnosis/faults.h"
#include "diagnosis/sources.h"
#include "diagnosis/symptoms.h"

namespace linkhealth {

namespace {

constexpr std::size_t kNeighbours = 3;
constexpr std::size_t kDifferences = 3;
constexpr double kWorthSaying =
    0.2;  // a sign that fewer than one in five show helps nobody to recognise a fault

constexpr std::array<std::string_view, kLightLossCount> kLossWords = {
    "no light is lost",
    "light is lost on the way in",
    "light is lost on the way out",
    "light is lost in both directions",
    "the far laser sends less",
    "this laser sends less",
};

/// How one fault shows itself: the causes of it, weighed by how often each is the one.
struct Looks {
  const Fault* fault = nullptr;
  std::vector<const Cause*> causes;
  double share_up = 0, share_down = 0;
  std::array<double, kSymptomCount> shows{};
  std::array<bool, kSymptomCount> decides{};
  std::array<double, kLightLossCount> light{};
  double errors_bright = 0;
  std::uint8_t media = 0;
};

double weight(const Cause& cause) { return cause.prior_up + cause.prior_down; }

double letter(const Cause& cause, SymptomId id) {
  for (const Expectation& row : cause.expects)
    if (row.symptom == id) return probability(row.often);
  return probability(Often::kNever);
}

Looks looks_of(const Fault& fault) {
  Looks looks;
  looks.fault = &fault;
  double total = 0;
  for (const Cause& cause : cause_table())
    if (cause.fault == fault.name && cause.end == fault.end) {
      looks.causes.push_back(&cause);
      looks.share_up += cause.prior_up;
      looks.share_down += cause.prior_down;
      looks.media |= cause.media;
      total += weight(cause);
    }
  for (const Cause* cause : looks.causes) {
    const double share = weight(*cause) / total;
    for (std::size_t i = 0; i < kSymptomCount; ++i)
      looks.shows[i] += share * letter(*cause, SymptomId(i));
    for (const Decisive& row : cause->decisive)
      looks.decides[static_cast<std::size_t>(row.symptom)] = true;
    for (std::size_t i = 0; i < kLightLossCount; ++i)
      looks.light[i] += share * cause->light.loss[i];
    looks.errors_bright += share * cause->light.errors_if_bright;
  }
  return looks;
}

/// How much a yes-or-no reading tells two faults apart: the symmetric Kullback-Leibler distance, in
/// nats.
double tells_apart(double a, double b) {
  const auto clamp = [](double p) { return std::clamp(p, 0.005, 0.995); };
  const double p = clamp(a), q = clamp(b);
  return (p - q) * std::log(p / q) + (q - p) * std::log((1 - p) / (1 - q));
}

std::string_view often_words(double p) {
  if (p >= 0.8) return "always";
  if (p >= 0.45) return "often";
  if (p >= 0.15) return "sometimes";
  if (p >= 0.02) return "rarely";
  return "never";
}

struct Difference {
  double nats = 0;
  std::string text;
};

std::vector<Difference> differences(const Looks& a, const Looks& b) {
  std::vector<Difference> found;
  for (std::size_t i = 0; i < kSymptomCount; ++i)
    found.push_back({tells_apart(a.shows[i], b.shows[i]),
                     fmt::format("{}: {} here, {} there", symptom(SymptomId(i)).meaning,
                                 often_words(a.shows[i]), often_words(b.shows[i]))});
  for (std::size_t i = 0; i < kLightLossCount; ++i)
    found.push_back({tells_apart(a.light[i], b.light[i]),
                     fmt::format("{}: {} here, {} there", kLossWords[i], often_words(a.light[i]),
                                 often_words(b.light[i]))});
  found.push_back({tells_apart(a.errors_bright, b.errors_bright),
                   fmt::format("errors though light is as before: {} here, {} there",
                               often_words(a.errors_bright), often_words(b.errors_bright))});
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.nats > y.nats; });
  return found;
}

std::vector<CatalogueNeighbour> neighbours_of(const Looks& own, const std::vector<Looks>& all) {
  struct Near {
    double distance;
    const Looks* looks;
    std::vector<Difference> why;
  };
  std::vector<Near> near;
  for (const Looks& other : all) {
    if (other.fault == own.fault || (other.media & own.media) == 0) continue;
    auto why = differences(own, other);
    double sum = 0;
    for (const Difference& difference : why) sum += difference.nats;
    near.push_back({sum, &other, std::move(why)});
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::vector<CatalogueNeighbour> neighbours;
  for (std::size_t i = 0; i < std::min(kNeighbours, near.size()); ++i) {
    const Fault& fault = *near[i].looks->fault;
    CatalogueNeighbour neighbour{fault.name, fault.end, fault.title, {}};
    for (std::size_t j = 0; j < kDifferences; ++j)
      neighbour.differences.push_back(near[i].why[j].text);
    neighbours.push_back(std::move(neighbour));
  }
  return neighbours;
}

std::vector<CatalogueSign> signs_of(const Looks& looks) {
  std::vector<CatalogueSign> signs;
  for (const Symptom& row : symptom_table()) {
    const auto i = static_cast<std::size_t>(row.id);
    if (looks.shows[i] >= kWorthSaying || looks.decides[i])
      signs.push_back({row.name, row.meaning, looks.shows[i], looks.decides[i]});
  }
  std::stable_sort(signs.begin(), signs.end(), [](const CatalogueSign& a, const CatalogueSign& b) {
    if (a.decisive != b.decisive) return a.decisive;
    return a.probability > b.probability;
  });
  return signs;
}

std::vector<std::string> light_of(const Looks& looks) {
  std::vector<std::pair<double, std::string>> places;
  for (std::size_t i = 1; i < kLightLossCount; ++i)
    if (looks.light[i] >= kWorthSaying)
      places.emplace_back(looks.light[i],
                          fmt::format("{} ({})", kLossWords[i], often_words(looks.light[i])));
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  words.reserve(places.size());
  for (auto& [share, text] : places) words.push_back(std::move(text));
  return words;
}

CatalogueFault describe(const Looks& looks, const std::vector<Looks>& all, double total_up,
                        double total_down) {
  const Fault& fault = *looks.fault;
  CatalogueFault row{};
  row.name = fault.name;
  row.end = fault.end;
  row.severity = fault.severity;
  row.title = fault.title;
  row.meaning = fault.meaning;
  row.verify = fault.verify;
  row.sure = fault.sure;
  row.source = source_of(fault.name);
  row.repair.reserve(fault.repair.size());
  for (const RepairStep& step : fault.repair) row.repair.push_back(step.text);
  for (const Cause* cause : looks.causes) row.causes.push_back(cause->name);
  if (looks.media != kAnyMedium) {
    if ((looks.media & kOnOptical) != 0) row.media.emplace_back("separable optics");
    if ((looks.media & kOnAoc) != 0) row.media.emplace_back("active optical cables");
    if ((looks.media & kOnCopper) != 0) row.media.emplace_back("copper");
  }
  row.share_up = looks.share_up / total_up;
  row.share_down = looks.share_down / total_down;
  row.light = light_of(looks);
  row.signs = signs_of(looks);
  row.neighbours = neighbours_of(looks, all);
  return row;
}

std::vector<CatalogueKnob> knobs_of(const KnobTable& table, std::string_view section,
                                    std::string_view group, std::span<const Knob> knobs) {
  const auto known = [&table, group] {
    return std::any_of(table.groups().begin(), table.groups().end(),
                       [group](const KnobGroup& row) { return row.name == group; });
  };
  const KnobValues values = known() ? table.values(group) : KnobValues{};
  std::vector<CatalogueKnob> rows;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    rows.push_back(
        {fmt::format("{}{}{}.{}", section, section.empty() ? "" : ".", group, knobs[i].name),
         knobs[i], i < values.size() ? values[i] : knobs[i].value});
  return rows;
}

}  // namespace

Catalogue make_catalogue(const KnobTable& knobs) {
  Catalogue catalogue;
  std::vector<Looks> all;
  double up = 0, down = 0;
  for (const Fault& fault : fault_table())
    if (fault.end != End::kNone) {
      all.push_back(looks_of(fault));
      up += all.back().share_up;
      down += all.back().share_down;
    }
  for (const Looks& looks : all) catalogue.faults.push_back(describe(looks, all, up, down));
  for (const Symptom& row : symptom_table())
    catalogue.symptoms.push_back({row.name, row.meaning, row.how, source_of(row.id),
                                  knobs_of(knobs, "symptoms", row.name, row.knobs)});
  for (const KnobGroup& group : knobs.groups()) {
    const std::string_view source = source_of_knobs(group.name);
    if (!group.section.empty() || source.empty())
      continue;  // a symptom's; of no rule, but of a probe or an exporter
    for (CatalogueKnob& knob : knobs_of(knobs, "", group.name, group.knobs)) {
      knob.source = source;
      catalogue.knobs.push_back(std::move(knob));
    }
  }
  return catalogue;
}

}  // namespace linkhealth
