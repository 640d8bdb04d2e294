#include "cli/fleet_arguments.h"

namespace linkhealth::cli {

void add_fleet(CLI::App& app, FleetOptions& options) {
  auto* command = app.add_subcommand(
      "fleet", "All nodes, as a Prometheus with linkhealth's rules knows them; needs no daemon");
  command
      ->add_option("--prometheus", options.prometheus.url, "Its address; may hold user:password@")
      ->envname("LINKHEALTH_PROMETHEUS")
      ->type_name("URL");
  auto* by = command->add_option("--by", options.by, "Count links by what they share")
                 ->check(CLI::Validator(CLI::IsMember({"switch", "part", "rack", "rail", "vendor"}))
                             .description(""))
                 ->type_name("switch|part|rack|rail|vendor");
  command
      ->add_flag(
          "--work-list", options.work_list,
          "What costs most, in the order of one round (pod, row, rack, U); Markdown, to be printed")
      ->excludes(by);
  command->add_option("--limit", options.limit, "At most so many lines")
      ->capture_default_str()
      ->check(CLI::Range(1, 5000))
      ->type_name("N");
  command->add_flag("--json", options.json, "As JSON");
  command
      ->add_option("--bearer-token-file", options.prometheus.bearer_token_file,
                   "A file with the token to show")
      ->type_name("FILE");
  command
      ->add_option("--ca-file", options.prometheus.ca_file,
                   "The authorities to trust, instead of the system's")
      ->type_name("FILE");
  command->footer(
      "\nExamples:\n"
      "  export LINKHEALTH_PROMETHEUS=https://prometheus.example\n"
      "  linkhealth fleet                          the links that cost most, and since when\n"
      "  linkhealth fleet --by switch              where they are: switch, part, rack, rail or "
      "vendor\n"
      "  linkhealth fleet --work-list >round.md    one round for a technician, to be printed\n"
      "  linkhealth fleet --json | jq -r '.faults[] | [.instance, .device, .fault] | @tsv'\n"
      "  linkhealth fleet --prometheus https://prometheus.example --bearer-token-file ~/.token\n"
      "\nExit codes: 0 answered; 2 wrong usage; 3 Prometheus does not answer; 4 it refuses, "
      "answers an error, or has\n"
      "no data of linkhealth.");
}

}  // namespace linkhealth::cli
