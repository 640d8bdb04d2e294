#include "exporters/catalogue_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr std::size_t kNameColumns = 24;

std::optional<std::uint64_t> count_in(const RuleCounts& counts, std::string_view name) {
  const auto at = counts.find(std::string(name));
  return at == counts.end() ? 0 : at->second;
}

std::string key_of(const CatalogueFault& fault) {
  return fmt::format("{}/{}", fault.name, to_string(fault.end));
}

std::optional<std::uint64_t> uses_of(const CatalogueFault& fault, const RuleUse* use) {
  return use == nullptr ? std::nullopt : count_in(use->faults, key_of(fault));
}
std::optional<std::uint64_t> uses_of(const CatalogueSymptom& symptom, const RuleUse* use) {
  return use == nullptr ? std::nullopt : count_in(use->symptoms, symptom.name);
}

std::string number(double value) { return fmt::format("{:g}", value); }

class Lines {
 public:
  explicit Lines(const TextStyle& style)
      : style_(style),
        width_(static_cast<std::size_t>(std::clamp(style.width_columns, 50, 1000))) {}
  void line(const std::string& text) { out_ += text + "\n"; }
  void heading(std::string_view text) {
    if (!out_.empty()) out_ += "\n";
    line(paint_bold(clean_text(text, style_.ascii), style_));
  }
  /// `label` in the first columns, `text` wrapped behind it.
  void row(std::size_t indent, std::string_view label, std::size_t columns, std::string_view text) {
    const std::size_t left = indent + columns;
    const auto parts =
        wrap(clean_text(text, style_.ascii), std::max<std::size_t>(width_ - left, 20));
    for (std::size_t i = 0; i < std::max<std::size_t>(parts.size(), 1); ++i)
      line(
          (i == 0 ? std::string(indent, ' ') + pad_right(label, columns) : std::string(left, ' ')) +
          (i < parts.size() ? parts[i] : ""));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const TextStyle& style_;
  std::size_t width_;
  std::string out_;
};

void put_knobs(Lines& lines, const std::vector<CatalogueKnob>& knobs) {
  for (const CatalogueKnob& row : knobs) {
    std::string text = number(row.value);
    if (!row.knob.unit.empty()) text += fmt::format(" {}", row.knob.unit);
    if (row.value != row.knob.value) text += fmt::format(" (default {})", number(row.knob.value));
    lines.row(10, row.knob.name, kNameColumns,
              fmt::format("{}  [{} … {}]  {}", text, number(row.knob.min), number(row.knob.max),
                          row.knob.meaning));
  }
}

/// By their groups, each with the source of its numbers.
void put_other_knobs(Lines& lines, const std::vector<CatalogueKnob>& knobs) {
  std::string_view group;
  for (const CatalogueKnob& row : knobs) {
    const std::string_view own = std::string_view(row.path).substr(0, row.path.rfind('.'));
    if (own != std::exchange(group, own)) {
      lines.row(2, own, 8 + kNameColumns, "");
      lines.row(10, "source", kNameColumns, row.source);
    }
    put_knobs(lines, {row});
  }
}

std::string times(std::optional<std::uint64_t> count) {
  if (!count) return "-";
  return *count == 0 ? "never" : std::to_string(*count);
}

void put_fault(Lines& lines, const CatalogueFault& fault, const RuleUse* use) {
  lines.heading(fmt::format("{} ({}, end: {}, {})", fault.title, fault.name, to_string(fault.end),
                            to_string(fault.severity)));
  lines.row(2, "", 0, fault.meaning);
  for (const CatalogueSign& sign : fault.signs)
    lines.row(
        2, fmt::format("{:3.0f}%", sign.probability * 100), 6,
        fmt::format("{} ({}){}", sign.meaning, sign.symptom, sign.decisive ? ": decides" : ""));
  for (const std::string& light : fault.light) lines.row(2, "", 6, light);
  for (const CatalogueNeighbour& near : fault.neighbours) {
    lines.row(2, "", 0,
              fmt::format("told from {} ({}):", name_words(near.fault), to_string(near.end)));
    for (const std::string& text : near.differences) lines.row(6, "", 0, text);
  }
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    lines.row(2, std::to_string(i + 1), 6, repair_step(fault.repair[i]));
  lines.row(2, "to be sure", 12, repair_step(fault.sure));
  lines.row(2, "verify", 12, fault.verify);
  lines.row(2, "source", 12, fault.source);
  if (use != nullptr) lines.row(2, "opened here", 13, times(uses_of(fault, use)));
}

void put_symptom(Lines& lines, const CatalogueSymptom& symptom, const RuleUse* use) {
  lines.heading(fmt::format("{}: {}", symptom.name, symptom.meaning));
  put_knobs(lines, symptom.knobs);
  if (!symptom.how.empty()) lines.row(2, "if missing", 12, symptom.how);
  lines.row(2, "source", 12, symptom.source);
  if (use != nullptr) lines.row(2, "decided here", 14, times(uses_of(symptom, use)));
}

Result<std::string> one(const Catalogue& catalogue, const RulesView& view, const TextStyle& style) {
  Lines lines(style);
  bool found = false;
  std::vector<std::string_view> names;
  for (const CatalogueFault& fault : catalogue.faults) {
    names.push_back(fault.name);
    if (fault.name != view.name) continue;
    put_fault(lines, fault, view.use);
    found = true;
  }
  for (const CatalogueSymptom& symptom : catalogue.symptoms) {
    names.push_back(symptom.name);
    if (symptom.name != view.name) continue;
    put_symptom(lines, symptom, view.use);
    found = true;
  }
  if (found) return lines.take();
  std::string text = fmt::format("no fault or symptom \"{}\"", printable(view.name));
  const auto meant = closest(view.name, names);
  text += meant ? fmt::format(": did you mean {}?", *meant)
                : std::string(" (linkhealth rules lists them)");
  return Error{text};
}

bool shown(std::optional<std::uint64_t> uses, const RulesView& view) {
  return !view.unused || uses == 0U;
}

}  // namespace

std::string repair_step(std::string_view step) {
  std::string text(step);
  for (const auto& [from, to] :
       {std::pair<std::string_view, std::string_view>{"{lane}", " of that lane"},
        {"{peer}", "the far end"},
        {" ({serial})", ""},
        {"{far}", "the far end"},
        {"{port}", "the port"}})
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from))
      text.replace(at, from.size(), to);
  return text;
}

Result<std::string> rules_text(const Catalogue& catalogue, const RulesView& view,
                               const TextStyle& style) {
  if (view.unused && view.use == nullptr)
    return Error{"what was never used can't be said without the daemon, which counts"};
  if (!view.name.empty()) return one(catalogue, view, style);
  Lines lines(style);
  const std::string counted =
      view.use == nullptr
          ? "not counted: the daemon is not asked"
          : fmt::format("counted for {}", duration_words(view.now - view.use->since));
  lines.heading(fmt::format("Faults ({})", counted));
  const auto put = [&lines](std::string_view uses, std::string_view fault, std::string_view end,
                            std::string_view severity, std::string_view meaning) {
    const std::string label =
        fmt::format("{:8}{:{}}{:8}{:10}", uses, fault, kNameColumns, end, severity);
    lines.row(2, label, label.size(), meaning);
  };
  put("OPENED", "FAULT", "END", "SEVERITY", "WHAT IT IS");
  for (const CatalogueFault& fault : catalogue.faults)
    if (shown(uses_of(fault, view.use), view))
      put(times(uses_of(fault, view.use)), fault.name, to_string(fault.end),
          to_string(fault.severity), fault.meaning);
  lines.heading("Symptoms, with their knobs [range]");
  lines.row(2, fmt::format("{:8}{}", "DECIDED", "SYMPTOM"), 8 + kNameColumns, "WHAT IT IS");
  for (const CatalogueSymptom& symptom : catalogue.symptoms) {
    if (!shown(uses_of(symptom, view.use), view)) continue;
    lines.row(2, fmt::format("{:8}{}", times(uses_of(symptom, view.use)), symptom.name),
              8 + kNameColumns, symptom.meaning);
    lines.row(10, "source", kNameColumns, symptom.source);
    put_knobs(lines, symptom.knobs);
  }
  if (!view.unused) {
    lines.heading("Other knobs");
    put_other_knobs(lines, catalogue.knobs);
  }
  return lines.take();
}

}  // namespace linkhealth
