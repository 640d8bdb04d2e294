#include <fmt/format.h>

#include "exporters/catalogue_text.h"
#include "model/json_writer.h"

namespace linkhealth {

namespace {

void put(JsonWriter& json, std::string_view key, const auto& value) {
  json.key(key);
  json.value(value);
}

void put_list(JsonWriter& json, std::string_view key, const auto& words) {
  json.key(key);
  json.begin_array();
  for (const auto& word : words) json.value(std::string_view(word));
  json.end_array();
}

void put_knobs(JsonWriter& json, const std::vector<CatalogueKnob>& knobs) {
  json.key("knobs");
  json.begin_array();
  for (const CatalogueKnob& row : knobs) {
    json.begin_object();
    put(json, "key", std::string_view(row.path));
    put(json, "value", row.value);
    put(json, "default", row.knob.value);
    put(json, "min", row.knob.min);
    put(json, "max", row.knob.max);
    put(json, "unit", row.knob.unit);
    put(json, "meaning", row.knob.meaning);
    if (!row.source.empty()) put(json, "source", row.source);
    json.end_object();
  }
  json.end_array();
}

void put_count(JsonWriter& json, std::string_view key, const auto& counts,
               const std::string& name) {
  const auto at = counts.find(name);
  put(json, key, at == counts.end() ? std::uint64_t{0} : at->second);
}

void put_fault(JsonWriter& json, const CatalogueFault& fault, const RuleUse* use) {
  json.begin_object();
  put(json, "fault", fault.name);
  put(json, "end", to_string(fault.end));
  put(json, "severity", to_string(fault.severity));
  put(json, "title", fault.title);
  put(json, "meaning", fault.meaning);
  put_list(json, "causes", fault.causes);
  put_list(json, "media", fault.media);
  put_list(json, "light", fault.light);
  json.key("signs");
  json.begin_array();
  for (const CatalogueSign& sign : fault.signs) {
    json.begin_object();
    put(json, "symptom", sign.symptom);
    put(json, "probability", sign.probability);
    put(json, "decisive", sign.decisive);
    json.end_object();
  }
  json.end_array();
  json.key("neighbours");
  json.begin_array();
  for (const CatalogueNeighbour& near : fault.neighbours) {
    json.begin_object();
    put(json, "fault", near.fault);
    put(json, "end", to_string(near.end));
    put_list(json, "differences", near.differences);
    json.end_object();
  }
  json.end_array();
  put_list(json, "repair", fault.repair);
  put(json, "verify", fault.verify);
  put(json, "to_be_sure", std::string_view(repair_step(fault.sure)));
  put(json, "source", fault.source);
  if (use != nullptr)
    put_count(json, "opened", use->faults, fmt::format("{}/{}", fault.name, to_string(fault.end)));
  json.end_object();
}

}  // namespace

std::string rules_json(const Catalogue& catalogue, const RuleUse* use) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  put(json, "schema", std::string_view("linkhealth.rules/1"));
  if (use != nullptr) put(json, "counted_since", std::string_view(format_rfc3339(use->since)));
  json.key("faults");
  json.begin_array();
  for (const CatalogueFault& fault : catalogue.faults) put_fault(json, fault, use);
  json.end_array();
  json.key("symptoms");
  json.begin_array();
  for (const CatalogueSymptom& symptom : catalogue.symptoms) {
    json.begin_object();
    put(json, "symptom", symptom.name);
    put(json, "meaning", symptom.meaning);
    put(json, "how", symptom.how);
    put(json, "source", symptom.source);
    put_knobs(json, symptom.knobs);
    if (use != nullptr) put_count(json, "decided", use->symptoms, std::string(symptom.name));
    json.end_object();
  }
  json.end_array();
  put_knobs(json, catalogue.knobs);
  json.end_object();
  return text + "\n";
}

}  // namespace linkhealth
