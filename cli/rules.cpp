#include <iostream>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "daemon/daemon.h"
#include "diagnosis/catalogue.h"
#include "exporters/catalogue_text.h"

namespace linkhealth::cli {

int run_rules(const Context& context, const RulesOptions& options) {
  const auto answer = context.client.get(
      options.json
          ? std::string("/api/v1/rules")
          : "/api/v1/text/rules" + (options.name.empty() ? "" : "/" + path_part(options.name)) +
                "?" + style_query(context.style) + (options.unused ? "&unused=1" : ""));
  if (answer || options.unused) return show(answer);
  const Catalogue catalogue = make_catalogue(KnobTable(all_knob_groups()));
  if (options.json) {
    std::cout << rules_json(catalogue, nullptr);
    return kOk;
  }
  const auto text = rules_text(catalogue, {.name = options.name, .now = {}}, context.style);
  if (!text) {
    complain(text.error().message);
    return kBadInput;
  }
  std::cout << *text;
  complain("the daemon does not answer: these are the defaults, without counts");
  return kOk;
}

}  // namespace linkhealth::cli
