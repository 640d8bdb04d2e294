// docs/faults.md: the catalogue for people who have the page and not the program.
#include <fmt/format.h>

#include <cctype>
#include <string>

#include "exporters/catalogue_text.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

std::string sentence(std::string_view text) {
  std::string words(text);
  if (!words.empty())
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : "; ") + std::string(word);
  return text;
}

std::string percent(double share) {
  return share < 0.005 ? "under 1 %" : fmt::format("{:.0f} %", share * 100);
}

void put_fault(std::string& out, const CatalogueFault& fault) {
  out += fmt::format("\n## {}\n`{}` · end: {} · severity: {}\n\n{}.\n\n", fault.title, fault.name,
                     to_string(fault.end), to_string(fault.severity), sentence(fault.meaning));
  out += fmt::format("**Ways to get it**: {}.", listed(fault.causes));
  if (!fault.media.empty()) out += fmt::format(" Only on {}.", listed(fault.media));
  out += fmt::format(
      " Before anything is seen: {} of the faults on links that carry, {} on links that are "
      "down.\n\n",
      percent(fault.share_up), percent(fault.share_down));
  out += "**How it looks**\n";
  for (const CatalogueSign& sign : fault.signs)
    out += fmt::format("* {} (`{}`): {:.0f} %{}\n", sign.meaning, sign.symptom,
                       sign.probability * 100, sign.decisive ? ", and settles the matter" : "");
  for (const std::string& light : fault.light) out += fmt::format("* {}\n", light);
  out += "\n**How it is told from its neighbours**\n";
  for (const CatalogueNeighbour& near : fault.neighbours) {
    out += fmt::format("* from *{}* (`{}`):", near.title, near.fault);
    for (std::size_t i = 0; i < near.differences.size(); ++i)
      out += fmt::format("{} {}", i == 0 ? "" : ";", near.differences[i]);
    out += "\n";
  }
  out += "\n**What to do**, cheapest first\n";
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    out += fmt::format("{}. {}\n", i + 1, repair_step(fault.repair[i]));
  out += fmt::format("\n**To be sure**: {}.\n\n**Verify**: {}.\n\n**Sources**: {}.\n",
                     repair_step(fault.sure), fault.verify, fault.source);
}

}  // namespace

std::string faults_page(const Catalogue& catalogue) {
  std::string out =
      "# The faults\n\n"
      "Written by the program from the very tables that decide (`diagnosis/faults.cpp`, "
      "`diagnosis/causes.cpp`,\n"
      "`diagnosis/symptoms/`); a test fails when it is old, `LINKHEALTH_ACCEPT=1` writes it anew. "
      "The percentages say "
      "how\n"
      "often a fault shows a sign where the sign can be read; what can't be read speaks neither "
      "for nor against.\n"
      "`linkhealth rules NAME` prints the same in a terminal, with what the rule did on that "
      "node.\n";
  for (const CatalogueFault& fault : catalogue.faults) put_fault(out, fault);
  out +=
      "\n## The symptoms\n\n| symptom | meaning | knobs (default) | source |\n|---|---|---|---|\n";
  for (const CatalogueSymptom& symptom : catalogue.symptoms) {
    std::string knobs;
    for (const CatalogueKnob& row : symptom.knobs)
      knobs += fmt::format("{}`{}` {:g}{}{}", knobs.empty() ? "" : "; ", row.knob.name,
                           row.knob.value, row.knob.unit.empty() ? "" : " ", row.knob.unit);
    out += fmt::format("| `{}` | {} | {} | {} |\n", symptom.name, symptom.meaning, knobs,
                       symptom.source);
  }
  out += "\n## Other knobs\n\n| knob | default | meaning | source |\n|---|---|---|---|\n";
  for (const CatalogueKnob& row : catalogue.knobs)
    out +=
        fmt::format("| `{}` | {:g}{}{} | {} | {} |\n", row.path, row.value,
                    row.knob.unit.empty() ? "" : " ", row.knob.unit, row.knob.meaning, row.source);
  return out;
}

}  // namespace linkhealth
