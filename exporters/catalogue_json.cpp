#include <fmt/format.h>

#include "exporters/catalogue_text.h"
#include "model/json.h"

namespace linkhealth {

namespace {

OrderedJson list_of(const auto& words) {
  OrderedJson list = OrderedJson::array();
  for (const auto& word : words) list.push_back(std::string_view(word));
  return list;
}

OrderedJson knobs_json(const std::vector<CatalogueKnob>& knobs) {
  OrderedJson list = OrderedJson::array();
  for (const CatalogueKnob& row : knobs) {
    OrderedJson json;
    json["key"] = row.path;
    json["value"] = row.value;
    json["default"] = row.knob.value;
    json["min"] = row.knob.min;
    json["max"] = row.knob.max;
    json["unit"] = row.knob.unit;
    json["meaning"] = row.knob.meaning;
    if (!row.source.empty()) json["source"] = row.source;
    list.push_back(std::move(json));
  }
  return list;
}

std::uint64_t count_of(const auto& counts, const std::string& name) {
  const auto at = counts.find(name);
  return at == counts.end() ? 0 : at->second;
}

OrderedJson fault_json(const CatalogueFault& fault, const RuleUse* use) {
  OrderedJson json;
  json["fault"] = fault.name;
  json["end"] = to_string(fault.end);
  json["severity"] = to_string(fault.severity);
  json["title"] = fault.title;
  json["meaning"] = fault.meaning;
  json["causes"] = list_of(fault.causes);
  json["media"] = list_of(fault.media);
  json["light"] = list_of(fault.light);
  json["signs"] = OrderedJson::array();
  for (const CatalogueSign& sign : fault.signs)
    json["signs"].push_back({{"symptom", sign.symptom},
                             {"probability", sign.probability},
                             {"decisive", sign.decisive}});
  json["neighbours"] = OrderedJson::array();
  for (const CatalogueNeighbour& near : fault.neighbours)
    json["neighbours"].push_back({{"fault", near.fault},
                                  {"end", to_string(near.end)},
                                  {"differences", list_of(near.differences)}});
  json["repair"] = list_of(fault.repair);
  json["verify"] = fault.verify;
  json["to_be_sure"] = repair_step(fault.sure);
  json["source"] = fault.source;
  if (use != nullptr)
    json["opened"] = count_of(use->faults, fmt::format("{}/{}", fault.name, to_string(fault.end)));
  return json;
}

OrderedJson symptom_json(const CatalogueSymptom& symptom, const RuleUse* use) {
  OrderedJson json;
  json["symptom"] = symptom.name;
  json["meaning"] = symptom.meaning;
  json["how"] = symptom.how;
  json["source"] = symptom.source;
  json["knobs"] = knobs_json(symptom.knobs);
  if (use != nullptr) json["decided"] = count_of(use->symptoms, std::string(symptom.name));
  return json;
}

}  // namespace

std::string rules_json(const Catalogue& catalogue, const RuleUse* use) {
  OrderedJson json;
  json["schema"] = "linkhealth.rules/1";
  if (use != nullptr) json["counted_since"] = format_rfc3339(use->since);
  json["faults"] = OrderedJson::array();
  for (const CatalogueFault& fault : catalogue.faults)
    json["faults"].push_back(fault_json(fault, use));
  json["symptoms"] = OrderedJson::array();
  for (const CatalogueSymptom& symptom : catalogue.symptoms)
    json["symptoms"].push_back(symptom_json(symptom, use));
  json["knobs"] = knobs_json(catalogue.knobs);
  return format_json(json) + "\n";
}

}  // namespace linkhealth
