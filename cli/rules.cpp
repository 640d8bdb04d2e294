// `linkhealth rules`: the fault and symptom tables for people, and as JSON for the generator of
// alerts, runbooks and docs/faults.md (dashboards/generate.py).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/commands.h"
#include "diagnosis/causes.h"
#include "diagnosis/likelihood.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

/// How often a fault shows a symptom: over its causes, weighted by frequency.
struct ShownSymptom {
  const Symptom* symptom;
  double probability = 0;
  bool decisive = false;
};
std::vector<ShownSymptom> symptoms_of(const Fault& fault) {
  std::vector<ShownSymptom> shown;
  for (const Symptom& row : symptom_table()) {
    ShownSymptom one{&row};
    double total = 0;
    for (const Cause& cause : cause_table()) {
      if (cause.fault != fault.id) continue;
      const double weight = cause.prior_up + cause.prior_down;
      total += weight;
      one.probability += weight * probability(cause, row.id);
      for (const Decisive& decisive : cause.expects.decisive)
        one.decisive = one.decisive || (decisive.nats > 0 && decisive.symptom == row.id);
    }
    one.probability /= total;
    shown.push_back(one);
  }
  std::ranges::stable_sort(shown, std::greater(), [](const ShownSymptom& one) {
    return std::pair(one.decisive, one.probability);
  });
  return shown;
}

std::vector<std::string_view> media_names(const Fault& fault) {
  const std::uint8_t media = media_of(fault.id);
  std::vector<std::string_view> words;
  if (media == kAnyMedium) return words;
  if ((media & kOnOptical) != 0) words.emplace_back("separable optics");
  if ((media & kOnAoc) != 0) words.emplace_back("active optical cables");
  if ((media & kOnCopper) != 0) words.emplace_back("copper");
  return words;
}

OrderedJson fault_json(const Fault& fault) {
  OrderedJson causes = OrderedJson::array(), repair = OrderedJson::array(),
              own_repair = OrderedJson::array(), shown = OrderedJson::array();
  for (const Cause& cause : cause_table()) {
    if (cause.fault != fault.id) continue;
    causes.push_back(cause.name);
    if (cause.repair.empty()) continue;
    OrderedJson steps = OrderedJson::array();
    for (const RepairStep& step : cause.repair) steps.push_back(step.text);
    own_repair.push_back(
        {{"cause", cause.name}, {"repair", steps}, {"to_be_sure", sure_of(cause)}});
  }
  for (const RepairStep& step : fault.repair) repair.push_back(step.text);
  for (const ShownSymptom& one : symptoms_of(fault))
    shown.push_back({{"symptom", one.symptom->name},
                     {"probability", one.probability},
                     {"decisive", one.decisive}});
  return {{"fault", fault.name},
          {"end", to_string(fault.end)},
          {"severity", to_string(fault.severity)},
          {"title", fault.title},
          {"meaning", fault.meaning},
          {"causes", causes},
          {"media", media_names(fault)},
          {"symptoms", shown},
          {"repair", repair},
          {"repair_of_causes", own_repair},
          {"verify", fault.verify},
          {"to_be_sure", fault.sure},
          {"source", fault.reference}};
}

OrderedJson rules_json() {
  OrderedJson faults = OrderedJson::array(), symptoms = OrderedJson::array();
  for (const Fault& fault : fault_table().subspan(1)) faults.push_back(fault_json(fault));
  for (const Symptom& row : symptom_table())
    symptoms.push_back({{"symptom", row.name},
                        {"meaning", row.meaning},
                        {"how", row.how},
                        {"source", row.reference}});
  return {{"schema", "linkhealth.rules/2"}, {"faults", faults}, {"symptoms", symptoms}};
}

void show_fault(TextPage& page, const Fault& fault) {
  constexpr double kLeastShown = 0.2;
  const auto plain = [](std::string_view text) {
    return fill_in(text, " of that lane", "the far end", "");
  };
  page.title(fmt::format("{} ({}, end: {}, {})", fault.title, fault.name, to_string(fault.end),
                         to_string(fault.severity)));
  page.text(2, fault.meaning, 0);
  for (const ShownSymptom& one : symptoms_of(fault))
    if (one.decisive || one.probability >= kLeastShown)
      page.labelled(fmt::format("{:3.0f}%", one.probability * 100),
                    fmt::format("{} ({}){}", one.symptom->meaning, one.symptom->name,
                                one.decisive ? ": decides" : ""));
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    page.labelled(std::to_string(i + 1), plain(fault.repair[i].text));
  for (const Cause& cause : cause_table()) {
    std::string steps;
    if (cause.fault == fault.id)
      for (const RepairStep& step : cause.repair)
        steps += (steps.empty() ? "" : "; ") + plain(step.text);
    if (!steps.empty()) page.labelled(std::string(cause.name), steps);
  }
  page.labelled("confirm by", plain(fault.sure));
  page.labelled("fixed when", fault.verify);
  page.labelled("source", fault.reference);
}

void show_symptom(TextPage& page, const Symptom& symptom) {
  page.title(fmt::format("{}: {}", symptom.name, symptom.meaning));
  page.labelled("if missing", symptom.how);
  page.labelled("source", symptom.reference);
}

std::string one_rule(std::string_view name, const TextStyle& style) {
  TextPage page(style);
  std::vector<std::string_view> names;
  for (const Fault& fault : fault_table().subspan(1)) {
    names.push_back(fault.name);
    if (fault.name == name) show_fault(page, fault);
  }
  for (const Symptom& symptom : symptom_table()) {
    names.push_back(symptom.name);
    if (symptom.name == name) show_symptom(page, symptom);
  }
  std::string text = page.result();
  if (!text.empty()) return text;
  const auto meant = closest(name, names);
  throw CommandError(kBadInput, fmt::format("no fault or symptom \"{}\"{}", printable(name),
                                            meant ? fmt::format(": did you mean {}?", *meant)
                                                  : " (linkhealth rules lists them)"));
}

std::string all_rules(const TextStyle& style) {
  constexpr std::size_t kNameColumns = 24;
  TextPage faults(style, kNameColumns + 20), symptoms(style, kNameColumns + 2);
  faults.title("Faults");
  for (const Fault& fault : fault_table().subspan(1))
    faults.labelled(fmt::format("{:{}}{:8}{}", fault.name, kNameColumns, to_string(fault.end),
                                to_string(fault.severity)),
                    fault.meaning);
  symptoms.title("Symptoms");
  for (const Symptom& symptom : symptom_table()) symptoms.labelled(symptom.name, symptom.meaning);
  return faults.result() + symptoms.result();
}

}  // namespace

int run_rules(const Context& context, const RulesOptions& options) {
  return print(options.json           ? format_json(rules_json())
               : options.name.empty() ? all_rules(context.style)
                                      : one_rule(options.name, context.style));
}

}  // namespace linkhealth::cli
