// The catalogue of faults and symptoms as people read it: `linkhealth rules` and docs/faults.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exporters/text_style.h"
#include "model/catalogue.h"
#include "model/rule_use.h"

namespace linkhealth {

struct RulesView {
  std::string name;     ///< one fault or symptom in full; "": all, briefly
  bool unused = false;  ///< only what never decided anything here
  const RuleUse* use =
      nullptr;   ///< what the rules did on this node; null: nobody counted (no daemon)
  WallTime now;  ///< for "counted for 12 d"
};

/// A table of all faults and one of all symptoms with their knobs and sources. An Error names the
/// nearest name when there is no fault or symptom of that name. Ends in a newline.
Result<std::string> rules_text(const Catalogue& catalogue, const RulesView& view,
                               const TextStyle& style);
/// docs/schema/rules.json
std::string rules_json(const Catalogue& catalogue, const RuleUse* use);
/// "clean both ends of the fibre{lane}" as a sentence that stands without a port.
std::string repair_step(std::string_view step);
/// docs/faults.md
std::string faults_page(const Catalogue& catalogue);

}  // namespace linkhealth
