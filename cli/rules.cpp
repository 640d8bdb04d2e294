// `linkhealth rules`: the fault and symptom tables for people, and as JSON for the generator of
// alerts, runbooks and docs/faults.md (dashboards/generate.py).
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "diagnosis/causes.h"
#include "diagnosis/likelihood.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

/// How often a fault shows a symptom: its causes, by how common they are.
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

std::vector<std::string_view> media_of(const Fault& fault) {
  std::uint8_t media = 0;
  for (const Cause& cause : cause_table())
    if (cause.fault == fault.id) media |= cause.media;
  std::vector<std::string_view> words;
  if (media == kAnyMedium) return words;
  if ((media & kOnOptical) != 0) words.emplace_back("separable optics");
  if ((media & kOnAoc) != 0) words.emplace_back("active optical cables");
  if ((media & kOnCopper) != 0) words.emplace_back("copper");
  return words;
}

OrderedJson fault_json(const Fault& fault) {
  OrderedJson causes = OrderedJson::array(), repair = OrderedJson::array(),
              shown = OrderedJson::array();
  for (const Cause& cause : cause_table())
    if (cause.fault == fault.id) causes.push_back(cause.name);
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
          {"media", media_of(fault)},
          {"symptoms", shown},
          {"repair", repair},
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

/// A step of a ladder as it reads without a port.
std::string plain(std::string_view step) {
  std::string text(step);
  for (const auto& [from, to] :
       {std::pair{"{lane}", " of that lane"}, {"{peer}", "the far end"}, {" ({serial})", ""}})
    if (const auto at = text.find(from); at != std::string::npos)
      text.replace(at, std::string_view(from).size(), to);
  return text;
}

class Page {
 public:
  explicit Page(const TextStyle& style)
      : style_(style),
        width_(static_cast<std::size_t>(std::clamp(style.width_columns, 50, 1000))) {}
  void heading(std::string_view text) {
    std::cout << paint_bold(clean_text(text, style_.ascii), style_) << '\n';
  }
  /// `label` in the first `columns`, `text` wrapped behind it.
  void row(std::string_view label, std::size_t columns, std::string_view text) {
    const std::size_t left = columns + 2;
    for (const std::string& line :
         wrap(clean_text(text, style_.ascii), std::max<std::size_t>(width_ - left, 20))) {
      std::cout << "  " << pad_right(label, columns) << line << '\n';
      label = "";
    }
  }

 private:
  const TextStyle& style_;
  std::size_t width_;
};

void show_fault(Page& page, const Fault& fault) {
  constexpr double kWorthSaying = 0.2;
  page.heading(fmt::format("{} ({}, end: {}, {})", fault.title, fault.name, to_string(fault.end),
                           to_string(fault.severity)));
  page.row("", 0, fault.meaning);
  for (const ShownSymptom& one : symptoms_of(fault))
    if (one.decisive || one.probability >= kWorthSaying)
      page.row(fmt::format("{:3.0f}%", one.probability * 100), 6,
               fmt::format("{} ({}){}", one.symptom->meaning, one.symptom->name,
                           one.decisive ? ": decides" : ""));
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    page.row(std::to_string(i + 1), 6, plain(fault.repair[i].text));
  page.row("confirm by", 12, plain(fault.sure));
  page.row("fixed when", 12, fault.verify);
  page.row("source", 12, fault.reference);
}

void show_symptom(Page& page, const Symptom& symptom) {
  page.heading(fmt::format("{}: {}", symptom.name, symptom.meaning));
  if (!symptom.how.empty()) page.row("if missing", 12, symptom.how);
  page.row("source", 12, symptom.reference);
}

bool show_one(Page& page, std::string_view name) {
  bool found = false;
  std::vector<std::string_view> names;
  for (const Fault& fault : fault_table().subspan(1)) {
    names.push_back(fault.name);
    if (fault.name == name) show_fault(page, fault), found = true;
  }
  for (const Symptom& symptom : symptom_table()) {
    names.push_back(symptom.name);
    if (symptom.name == name) show_symptom(page, symptom), found = true;
  }
  if (found) return true;
  const auto meant = closest(name, names);
  complain(fmt::format(
      "no fault or symptom \"{}\"{}", printable(name),
      meant ? fmt::format(": did you mean {}?", *meant) : " (linkhealth rules lists them)"));
  return false;
}

}  // namespace

int run_rules(const Context& context, const RulesOptions& options) {
  constexpr std::size_t kNameColumns = 24;
  Page page(context.style);
  if (options.json) {
    std::cout << format_json(rules_json()) << '\n';
  } else if (!options.name.empty()) {
    return show_one(page, options.name) ? kOk : kBadInput;
  } else {
    page.heading("Faults");
    for (const Fault& fault : fault_table().subspan(1))
      page.row(fmt::format("{:{}}{:8}{:10}", fault.name, kNameColumns, to_string(fault.end),
                           to_string(fault.severity)),
               kNameColumns + 18, fault.meaning);
    page.heading("Symptoms");
    for (const Symptom& symptom : symptom_table())
      page.row(symptom.name, kNameColumns, symptom.meaning);
  }
  return kOk;
}

}  // namespace linkhealth::cli
