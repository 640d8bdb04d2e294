#include <iostream>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/fetched.h"
#include "cli/local.h"
#include "daemon/daemon.h"
#include "diagnosis/catalogue.h"
#include "exporters/catalogue_text.h"
#include "exporters/json.h"
#include "model/json.h"

namespace linkhealth::cli {

namespace {

/// The settings in force. What this program does not know, a daemon of another version has.
void read_settings(const Json& rows, KnobTable& settings) {
  if (!rows.is_array()) return;
  for (const Json& row : rows) {
    const std::string path = text_member(row, "key");  // "symptoms.module_hot.warn_c"
    const auto parts = split(path, '.');
    const Json& value = member(row, "value");
    if (parts.size() < 2 || !value.is_number()) continue;
    (void)settings.set(parts[parts.size() - 2], parts.back(), value.get<double>());
  }
}

void read_count(const Json& row, const char* key, std::string name, RuleCounts& counts) {
  const Json& count = member(row, key);
  if (count.is_number_unsigned()) counts[std::move(name)] = count.get<std::uint64_t>();
}

/// What the daemon's rules differ in from the defaults, and how often they decided there.
void read_rules(const Json& rules, KnobTable& settings, RuleUse& use) {
  use.since = parse_rfc3339(text_member(rules, "counted_since")).value_or(WallTime());
  read_settings(member(rules, "knobs"), settings);
  for (const Json& symptom : member(rules, "symptoms")) {
    read_settings(member(symptom, "knobs"), settings);
    read_count(symptom, "decided", text_member(symptom, "symptom"), use.symptoms);
  }
  for (const Json& fault : member(rules, "faults"))
    read_count(fault, "opened", text_member(fault, "fault") + "/" + text_member(fault, "end"),
               use.faults);
}

}  // namespace

int run_rules(const Client& client, const RulesOptions& options, const TextStyle& style) {
  const auto answer = client.get("/api/v1/rules");
  if (answer ? options.json || answer->status != 200 : options.unused) return show(answer);
  KnobTable settings(all_knob_groups());
  RuleUse use;
  WallTime now;  // the daemon's, for the time of counting
  if (answer) {
    if (const auto status = fetch_as(client, "/api/v1/status", &parse_status); status.value)
      now = status.value->daemon.now;
    const auto rules = parse_json(answer->body);
    if (!rules) {
      complain("the daemon's answer can't be read: " + rules.error().message);
      return kDaemonError;
    }
    read_rules(*rules, settings, use);
  }
  const Catalogue catalogue = make_catalogue(settings);
  if (options.json) {
    std::cout << rules_json(catalogue, nullptr);
    return kOk;
  }
  const bool counted = use.since != WallTime();
  const auto text = rules_text(
      catalogue,
      {.name = options.name, .unused = options.unused, .use = counted ? &use : nullptr, .now = now},
      style);
  if (!text) {
    complain(text.error().message);
    return kBadInput;
  }
  std::cout << *text;
  if (!answer) complain("the daemon does not answer: these are the defaults, without counts");
  return kOk;
}

}  // namespace linkhealth::cli
