// What the program knows of faults and symptoms, as plain values: for `linkhealth rules`,
// docs/faults.md and whoever wants to correct the tables. Built from the tables themselves
// (diagnosis/catalogue.h), so it can't say anything else than what decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/knobs.h"
#include "model/report.h"

namespace linkhealth {

/// "symptoms.carrier_flaps.min_changes" with its value in force.
struct CatalogueKnob {
  std::string path;
  Knob knob;
  double value = 0;
  std::string_view
      source{};  ///< where its default comes from; "" for a symptom's, whose own source it is
};

struct CatalogueSymptom {
  std::string_view name;
  std::string_view meaning;
  std::string_view how;     ///< how to get the reading where it is missing; "" where nothing helps
  std::string_view source;  ///< where the rule and its numbers come from
  std::vector<CatalogueKnob> knobs;
};

/// How often a fault shows a symptom: the likeliest of its causes.
struct CatalogueSign {
  std::string_view symptom;
  std::string_view meaning;
  double probability = 0;
  bool decisive = false;
};

/// A fault that looks alike, and what tells the two apart.
struct CatalogueNeighbour {
  std::string_view fault;
  End end = End::kNone;
  std::string_view title;
  std::vector<std::string> differences;
};

struct CatalogueFault {
  std::string_view name;
  End end = End::kNone;
  Severity severity = Severity::kWarning;
  std::string_view title, meaning, verify, sure, source;
  std::vector<std::string_view> causes;  ///< the physical ways to get it
  std::vector<std::string_view> media;   ///< "optical", "AOC", "copper"; empty: any
  std::vector<std::string_view> repair;  ///< cheapest first, with placeholders
  double share_up = 0,
         share_down = 0;  ///< a priori, among the faults of links that carry, and that do not
  std::vector<std::string> light;    ///< where light is lost, most likely first
  std::vector<CatalogueSign> signs;  ///< most likely first
  std::vector<CatalogueNeighbour> neighbours;
};

struct Catalogue {
  std::vector<CatalogueFault> faults;
  std::vector<CatalogueSymptom> symptoms;
  std::vector<CatalogueKnob>
      knobs;  ///< those that belong to no symptom: the differential, the windows, the ledger …
};

}  // namespace linkhealth
