#include "cli/more_arguments.h"

#include "base/text.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

CLI::Validator is_ratio() {
  return CLI::Validator(
      [](std::string& text) {
        const auto ratio = parse_double(text);
        return ratio && *ratio >= 1e-18 && *ratio <= 1e-6
                   ? ""
                   : "\"" + printable(text) + "\" is no ratio from 1e-18 to 1e-6";
      },
      "");
}

void add_ack(CLI::App& app, AckOptions& options) {
  auto* command = app.add_subcommand(
      "ack", "Take note of a port's fault: somebody has it, the rules' alert ends");
  command->add_option("port", options.port, "The port, by any of its names")
      ->required()
      ->type_name("PORT");
  auto* end = command->add_flag("--end", options.end, "Take the acknowledgement back");
  command
      ->add_option("--for", options.for_time,
                   "How long: 30m, 2h, 1d; without it until the fault closes")
      ->type_name("TIME")
      ->excludes(end);
  command->add_option("--reason", options.reason, "Why, for those who come next")
      ->type_name("TEXT");
  command
      ->add_option("--by", options.by,
                   "The name to show; another who really asks is shown beside it: ann (as root)")
      ->type_name("NAME");
  command->add_flag("--json", options.json, "The answer as JSON (docs/schema/action.json)");
  command->footer(
      "It survives a restart of the daemon. When it is over and the fault is not, the fault is "
      "told anew.\n"
      "An alert of Prometheus's rules ends with it.\n"
      "\nExamples:\n"
      "  linkhealth ack mlx5_3 --for 2h --reason 'jumper ordered, ticket 4711'\n"
      "  linkhealth ack mlx5_3 --by ann\n"
      "  linkhealth ack mlx5_3 --end\n"
      "\nExit codes: 0 done; 2 no such port, nothing open there, or acknowledged already; 3 the "
      "daemon does not "
      "answer; 4 it could not do it.");
}

void add_maintenance(CLI::App& app, MaintenanceOptions& options) {
  auto* command = app.add_subcommand(
      "maintenance", "Begin or end work on a port, or on all: nothing is raised meanwhile");
  command->add_option("action", options.action, "start or end")
      ->required()
      ->check(CLI::Validator(CLI::IsMember({"start", "end"})).description(""))
      ->type_name("start|end");
  command->add_option("port", options.port, "The port, by any of its names, or all")
      ->required()
      ->type_name("PORT|all");
  command
      ->add_option("--for", options.for_time, "How long it will take: 30m, 2h, 1d (start needs it)")
      ->type_name("TIME");
  command->add_option("--reason", options.reason, "What is done")->type_name("TEXT");
  command
      ->add_option("--by", options.by,
                   "The name to show; another who really asks is shown beside it: ann (as root)")
      ->type_name("NAME");
  command->add_flag(
      "--no-module-reads", options.no_module_reads,
      "Leave the module's memory alone meanwhile: its firmware is being changed, say");
  command->add_flag("--json", options.json, "The answer as JSON (docs/schema/action.json)");
  command->footer(
      "All is still seen and shown. What is wrong when the time is over is raised then; flaps "
      "under somebody's hands "
      "do\n"
      "not count. It survives a restart. A file in the configured maintenance_dir, named as the "
      "port or all, does the "
      "same.\n"
      "\nExamples:\n"
      "  linkhealth maintenance start mlx5_3 --for 1h --reason 'new jumper'\n"
      "  linkhealth maintenance end mlx5_3\n"
      "  linkhealth maintenance start mlx5_3 --for 20m --reason 'module firmware' "
      "--no-module-reads\n"
      "  linkhealth maintenance start all --for 4h --reason 'firmware'\n"
      "\nExit codes: 0 done; 2 no such port, or no maintenance to end; 3 the daemon does not "
      "answer; 4 it could not do "
      "it.");
}

void add_check(CLI::App& app, CheckOptions& options) {
  auto* command = app.add_subcommand(
      "check", "One line and an exit code for monitoring systems and schedulers");
  command->add_option("port", options.port, "Only this port, by any of its names")
      ->type_name("PORT");
  auto* drain = command->add_flag(
      "--drain-reason", options.drain_reason,
      "Only a reason of at most 60 characters, for a scheduler; nothing when all is well");
  auto* perfdata = command->add_flag("--perfdata", options.perfdata,
                                     "With performance data, as Nagios reads it");
  command->add_flag("--json", options.json, "As JSON (docs/schema/check.json)")
      ->excludes(drain)
      ->excludes(perfdata);
  drain->excludes(perfdata);
  command->footer(
      "\nExamples:\n"
      "  linkhealth check\n"
      "  linkhealth check mlx5_3 --perfdata\n"
      "  reason=$(linkhealth check --drain-reason); [ $? -eq 2 ] &&\n"
      "    scontrol update NodeName=$(hostname -s) State=DRAIN Reason=\"$reason\"\n"
      "\nFor Slurm, NHC, Nagios and node-problem-detector see deploy/schedulers.\n"
      "A port in maintenance or exempt is OK; in a dry run everything is OK and says what it would "
      "be.\n"
      "\nExit codes, Nagios' own: 0 OK; 1 WARNING: at risk or degraded; 2 CRITICAL: down or losing "
      "data;\n"
      "3 UNKNOWN: nothing could be read, no such port, or the daemon does not answer.");
}

void add_ticket(CLI::App& app, TicketOptions& options) {
  auto* command =
      app.add_subcommand("ticket", "All that a technician needs at the rack, as Markdown");
  command->add_option("port", options.port, "The port, by any of its names")
      ->required()
      ->type_name("PORT");
  command->add_flag("--json", options.json,
                    "As JSON (docs/schema/ticket.json), the Markdown in it");
  command->footer(
      "Places are those of the configuration's site labels and of the cabling plan.\n"
      "\nExamples:\n"
      "  linkhealth ticket mlx5_3\n"
      "  linkhealth ticket mlx5_3 --json | jq -r '.near.serial, .far.serial'\n"
      "\nExit codes: 0 done; 2 no such port; 3 the daemon does not answer; 4 it could not do it.");
}

void add_cabling(CLI::App& app, CablingOptions& options) {
  auto* command = app.add_subcommand(
      "cabling", "What is plugged where, against the plan; exit code 1 if something is wrong");
  auto* learn = command->add_flag("--learn", options.learn, "Write a plan of what is plugged now");
  command
      ->add_option("--from", options.from,
                   "With --learn: saved output of ibnetdiscover or lldpctl -f json; again for more")
      ->type_name("FILE")
      ->needs(learn)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--node", options.node,
                   "With --from: whose lldpctl output it is; without it this host's")
      ->type_name("NAME")
      ->needs(learn);
  command->add_flag("--yaml", options.yaml, "With --learn: as YAML instead of CSV")->needs(learn);
  command->add_flag("--json", options.json, "As JSON (docs/schema/cabling.json)")->excludes(learn);
  command->footer(
      "The plan is the file that the configuration names (plan: /etc/linkhealth/plan.csv), one for "
      "the whole cluster;\n"
      "linkhealthd(8) describes its columns.\n"
      "\nExamples:\n"
      "  linkhealth cabling\n"
      "  linkhealth cabling --learn >plan.csv\n"
      "  ibnetdiscover >fabric.txt; linkhealth cabling --learn --from fabric.txt >plan.csv\n"
      "  lldpctl -f json >gpu-1.json; linkhealth cabling --learn --from gpu-1.json --node gpu-1\n"
      "\nExit codes: 0 all as planned, or a plan was written; 1 a cable is swapped or in a wrong "
      "port; 2 an unusable "
      "file;\n3 the daemon does not answer; 4 it could not do it.");
}

void add_limits(CLI::App& command, VerifyOptions& options, std::string& least) {
  command
      .add_option("--ber", options.ber,
                  "The bit error ratio after FEC that is to be ruled out with 95 %, 1e-18 to 1e-6")
      ->check(is_ratio())
      ->capture_default_str()
      ->type_name("RATIO");
  command.add_option("--least", least, "At least so long without a drop: 10m, 30m, 2h")
      ->capture_default_str()
      ->type_name("TIME");
  command.add_flag("--json", options.json,
                   "A line of JSON a minute and at the end (docs/schema/verify.json)");
}

constexpr const char* kProofExitCodes =
    "\nExit codes: 0 PASS; 1 FAIL; 2 no such port, or exempt; 3 the daemon does not answer, or "
    "stays away for 10 min;\n"
    "4 it can't be told: no error counter, or it was ended before.";

void add_verify(CLI::App& app, VerifyOptions& options, std::string& least) {
  auto* command =
      app.add_subcommand("verify", "Acceptance of a new or repaired link: PASS or FAIL");
  command->add_option("port", options.port, "The port, by any of its names")
      ->required()
      ->type_name("PORT");
  add_limits(*command, options, least);
  command->footer(std::string("No loss of the carrier, no uncorrectable block, no fault that still "
                              "shows, and enough bits "
                              "without\nan error: 3/RATIO of them rule the ratio out with 95 % "
                              "(400G and 1e-15: 2 h 5 min). "
                              "Where there is no FEC\nsome errors are allowed, and more bits are "
                              "asked for. Restarts of the "
                              "daemon do no harm.\n"
                              "\nExamples:\n"
                              "  linkhealth verify mlx5_3\n"
                              "  linkhealth verify mlx5_3 --ber 1e-14          13 min of bits at "
                              "400G, 30 min at least\n"
                              "  linkhealth verify mlx5_3 --json | tail -n 1 | jq .state\n") +
                  kProofExitCodes);
}

void add_qualify(CLI::App& app, VerifyOptions& options, std::string& least) {
  auto* command = app.add_subcommand("qualify", "Acceptance of all ports at once, at bring-up");
  add_limits(*command, options, least);
  command->footer(
      std::string(
          "As verify, of every port that is not exempt; ends when the last has passed or failed.\n"
          "\nExamples:\n"
          "  linkhealth qualify\n"
          "  linkhealth qualify --ber 1e-14 --least 15m --json >qualified.jsonl\n") +
      kProofExitCodes);
}

int run_proof(const char* command, const Client& client, VerifyOptions options,
              const std::string& least, const LocalCommands& local, const TextStyle& style) {
  const auto duration = parse_duration_s(least);
  if (!duration) {
    complain(std::string(command) + " --least: " + duration.error().message);
    return kBadInput;
  }
  options.least_s = *duration;
  return local.verify(client, options, style);
}

}  // namespace

void add_more(CLI::App& app, MoreParsed& parsed, const LocalCommands& local) {
  add_ack(app, parsed.ack);
  add_maintenance(app, parsed.maintenance);
  add_check(app, parsed.check);
  add_ticket(app, parsed.ticket);
  if (local.cabling) add_cabling(app, parsed.cabling);
  if (!local.verify) return;
  add_verify(app, parsed.verify, parsed.verify_for);
  add_qualify(app, parsed.qualify, parsed.qualify_for);
}

std::optional<int> dispatch_more(const CLI::App& app, const MoreParsed& parsed,
                                 const Client& client, const LocalCommands& local,
                                 const TextStyle& style) {
  if (app.got_subcommand("ack")) return run_ack(client, parsed.ack);
  if (app.got_subcommand("maintenance")) return run_maintenance(client, parsed.maintenance);
  if (app.got_subcommand("check")) return run_check(client, parsed.check);
  if (app.got_subcommand("ticket")) return run_ticket(client, parsed.ticket);
  if (local.cabling && app.got_subcommand("cabling"))
    return local.cabling(client, parsed.cabling, style);
  if (local.verify && app.got_subcommand("verify"))
    return run_proof("verify", client, parsed.verify, parsed.verify_for, local, style);
  if (local.verify && app.got_subcommand("qualify"))
    return run_proof("qualify", client, parsed.qualify, parsed.qualify_for, local, style);
  return std::nullopt;
}

}  // namespace linkhealth::cli
