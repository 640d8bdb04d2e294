#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <optional>

#include "base/text.h"
#include "cli/exit_codes.h"
#include "cli/fleet_arguments.h"
#include "cli/more_arguments.h"
#include "cli/terminal.h"
#include "cli/usage.h"

namespace linkhealth::cli {

namespace {

constexpr const char* kSocket = "/run/linkhealth/linkhealth.sock";

constexpr const char* kFooter = R"(
PORT is any name of a port: mlx5_0, mlx5_0/1, its network interface, PCI address or GUID.

Examples:
  linkhealth status                     all ports, the verdict in words
  linkhealth status --problems          only those that want attention; exit code 1 if there is one
  linkhealth explain mlx5_3             what is wrong, why, and what to do
  linkhealth history mlx5_3 --since 2d  since when, what was tried, and did it help
  linkhealth watch                      the same table, live; Ctrl-C ends it
  linkhealth ack mlx5_3 --for 2h --reason 'jumper ordered'
  linkhealth ticket mlx5_3              what a technician takes to the rack
  linkhealth verify mlx5_3              did the repair help: PASS or FAIL
  linkhealth maintenance start all --for 4h --reason firmware
  linkhealth doctor                     what can be seen here, what can't, and what to do
  linkhealth record --for 10m night.jsonl.gz
  linkhealth rules dirty_connector      how a fault looks, how it is told from others, what to do
  linkhealth fleet --by switch          all nodes, as a Prometheus knows them (LINKHEALTH_PROMETHEUS)
  linkhealth replay week.jsonl.gz --what-if symptoms.carrier_flaps.min_losses=6
  linkhealth status --json | jq '.ports[] | select(.health != "healthy")'

Exit codes: 0 done; 1 a port wants attention (status --problems), something can't be seen (doctor), is plugged wrong
(cabling) or failed (verify, qualify); 2 wrong usage, unknown port, nothing to do there, unusable file; 3 the daemon
(fleet: Prometheus) does not answer; 4 it could not do it. check has those of Nagios.)";

/// All that the command line can say.
struct Parsed {
  std::string socket = kSocket;
  StatusOptions status;
  ExplainOptions explain;
  HistoryOptions history;
  WatchOptions watch;
  RecordOptions record;
  ReplayOptions replay;
  ModuleOptions module;
  DoctorOptions doctor;
  RulesOptions rules;
  FleetOptions fleet;
  MoreParsed more;
  std::string record_for = "10m";
  std::string sysroot;
  bool once = false;
};

void add_status(CLI::App& app, Parsed& parsed, const LocalCommands& local) {
  auto* command = app.add_subcommand(
      "status", "One line for each port: the link, the light, the errors, the verdict");
  command->add_flag("--problems", parsed.status.problems,
                    "Only ports that want attention; exit code 1 if there is one");
  command->add_flag("--wide", parsed.status.wide, "All columns, nothing cut");
  command->add_flag("--json", parsed.status.json, "The report as JSON");
  command->footer(
      "\nExamples:\n"
      "  linkhealth status --problems          exit code 1 if a port wants attention\n"
      "  linkhealth status --json | jq '.ports[] | {port, health}'\n"
      "  linkhealth status --once --sysroot /tmp/customer\n"
      "\nExit codes: 0 done; 1 --problems and there is one; 2 wrong usage; 3 the daemon does not "
      "answer; 4 it could "
      "not do it.");
  if (!local.once) return;
  auto* once =
      command->add_flag("--once", parsed.once, "Look at this node once, without the daemon");
  command
      ->add_option("--sysroot", parsed.sysroot,
                   "With --once: read a copy of a node's /sys below DIR")
      ->type_name("DIR")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""))
      ->needs(once);
}

void add_explain(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("explain", "What is wrong with a port, why, and what to do");
  command->add_option("port", parsed.explain.port, "The port, by any of its names")
      ->required()
      ->type_name("PORT");
  command->add_flag("--evidence", parsed.explain.evidence,
                    "Every symptom with its verdict: present, absent or unknown");
  command->add_flag(
      "--physics", parsed.explain.physics,
      "The link budget both ways: what is sent, lost and received, the margin, the error ratio");
  command->add_flag("--json", parsed.explain.json, "The port's part of the report as JSON");
  command->footer(
      "\nExamples:\n"
      "  linkhealth explain mlx5_3\n"
      "  linkhealth explain 0000:9a:00.0 --evidence\n"
      "  linkhealth explain ens4np0 --json | jq '.faults[0].repair'\n"
      "\nExit codes: 0 done; 2 wrong usage or unknown port; 3 the daemon does not answer; 4 it "
      "could not do it.");
}

void add_history(CLI::App& app, Parsed& parsed) {
  auto* command =
      app.add_subcommand("history",
                         "What happened to a port: plots of light, errors and temperature, "
                         "faults and repairs");
  command->add_option("port", parsed.history.port, "The port, by any of its names")
      ->required()
      ->type_name("PORT");
  command
      ->add_option("--since", parsed.history.since,
                   "How far back: 30m, 2h, 7d, at most what is remembered")
      ->capture_default_str()
      ->type_name("TIME");
  command->add_flag("--ascii", parsed.history.ascii, "Draw with ASCII only");
  command->add_flag("--json", parsed.history.json, "As JSON (docs/schema/history.json)");
  command->footer(
      "Steps are 10 s, 1 min or 10 min long, as the time asks for; each shows the worst of its "
      "time. Times are UTC.\n"
      "\nExamples:\n"
      "  linkhealth history mlx5_3                 the last week\n"
      "  linkhealth history ens1np0 --since 2h     since when is the light gone?\n"
      "  linkhealth history mlx5_3 --since 90d --json | jq '.events[] | [.at, .event, .fault]'\n"
      "\nExit codes: 0 done; 2 wrong usage or unknown port; 3 the daemon does not answer; 4 "
      "nothing can be read now.");
}

void add_watch(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "watch", "The status, or one port's explanation, drawn again every second");
  command->add_option("port", parsed.watch.port, "Explain this port; without it: the status of all")
      ->type_name("PORT");
  command->add_flag("--problems", parsed.watch.problems, "Only ports that want attention");
  command->add_flag("--json", parsed.watch.json,
                    "One line of JSON at each refresh: the report, or the port's part of it");
  command->add_option("--frames", parsed.watch.frames, "End after so many drawings")
      ->check(CLI::Validator(
          [](std::string& text) {
            return parse_u64(text).value_or(0) > 0
                       ? std::string()
                       : "\"" + printable(text) + "\" is no number from 1 on";
          },
          ""))
      ->type_name("N");
  command->footer(
      "\nExamples:\n"
      "  linkhealth watch\n"
      "  linkhealth watch mlx5_3               while somebody cleans at the rack\n"
      "  linkhealth watch --json | jq -c '[.at, (.ports[] | .health)]'\n"
      "\nExit codes: 0 ended by Ctrl-C or --frames; 2 wrong usage or unknown port; 3 the daemon "
      "does not answer.");
}

void add_record(CLI::App& app, Parsed& parsed) {
  auto* command =
      app.add_subcommand("record", "Write down what the daemon sees, to replay it anywhere");
  command->add_option("--for", parsed.record_for, "How long: 90s, 10m, 2h, 1d")
      ->capture_default_str()
      ->type_name("TIME");
  command
      ->add_option("file", parsed.record.file,
                   "A new file, compressed if it ends in .gz; - for standard output")
      ->required()
      ->type_name("FILE");
  command->footer(
      "\nIt begins with what the daemon knows and ends when the time is over. Most is read each\n"
      "ten seconds: give a minute or more where rates matter.\n"
      "\nExamples:\n"
      "  linkhealth record --for 10m night.jsonl.gz\n"
      "  linkhealth record --for 1m - | ssh desk linkhealth replay -\n"
      "\nExit codes: 0 done; 2 wrong usage, or no such file; 3 the daemon does not answer; 4 it "
      "could not do it.");
}

void add_replay(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("replay", "Judge a recording again, with no hardware");
  command->add_option("file", parsed.replay.file, "A recording, also gzip; - for standard input")
      ->required()
      ->type_name("FILE");
  command->add_option("--config", parsed.replay.config, "Judge by this configuration")
      ->type_name("FILE");
  parsed.replay.format = "text";
  command
      ->add_option("--format", parsed.replay.format,
                   "text, json (the last report) or jsonl (every event)")
      ->check(CLI::Validator(CLI::IsMember({"text", "json", "jsonl"})).description(""))
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      ->add_option("--what-if", parsed.replay.what_if,
                   "Turn a knob, and say which diagnoses that would change; may be given again")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag_callback(
      "--json", [&parsed] { parsed.replay.format = "json"; }, "The same as --format json");
  command->footer(
      "\nExamples:\n"
      "  linkhealth replay night.jsonl.gz\n"
      "  linkhealth replay night.jsonl.gz --format jsonl | jq -r '.event + \" \" + .port'\n"
      "  linkhealth replay week.jsonl.gz --what-if symptoms.carrier_flaps.min_losses=6\n"
      "\nExit codes: 0 done; 2 wrong usage, or no recording; 4 it could not do it.");
}

void add_rules(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "rules", "Every fault and symptom with its knobs and sources, and what decided here");
  command->add_option("name", parsed.rules.name, "Only this fault or symptom, in full")
      ->type_name("NAME");
  command->add_flag("--unused", parsed.rules.unused,
                    "Only what never decided anything on this node");
  command->add_flag("--json", parsed.rules.json, "As JSON");
  command->footer(
      "\nExamples:\n"
      "  linkhealth rules dirty_connector\n"
      "  linkhealth rules --unused\n"
      "\nExit codes: 0 done; 2 no such fault or symptom; 3 the daemon does not answer (--unused).");
}

void add_module(CLI::App& app, Parsed& parsed) {
  auto* command =
      app.add_subcommand("module", "What a port's module, or a saved EEPROM, says about itself");
  auto* port = command->add_option("port", parsed.module.port, "The port, by any of its names")
                   ->type_name("PORT");
  command->add_option("--file", parsed.module.file, "A dump of a module's EEPROM")
      ->type_name("FILE")
      ->excludes(port);
  command->add_flag("--json", parsed.module.json, "As JSON");
  command->footer(
      "\nExamples:\n"
      "  linkhealth module mlx5_3\n"
      "  ethtool -m ens4np0 raw on >module.bin; linkhealth module --file module.bin\n"
      "\nExit codes: 0 done; 2 wrong usage, unknown port, no dump; 3 the daemon does not answer; 4 "
      "it could not do "
      "it.");
}

void add_doctor(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("doctor",
                                     "What can be seen of each port, what can't, why, and what to "
                                     "do; exit code 1 if something can't");
  command->add_flag("--json", parsed.doctor.json, "As JSON");
  command
      ->add_option("--sysroot", parsed.doctor.sysroot,
                   "Look at a copy of a node's /sys below DIR, without the daemon")
      ->type_name("DIR")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""));
  command->footer(
      "Asks the daemon, whose rights count. Without a daemon it looks for itself, with the rights "
      "of who calls it.\n"
      "\nExamples:\n"
      "  linkhealth doctor\n"
      "  linkhealth doctor --json | jq '.ports[].sources[] | select(.state == \"hidden\")'\n"
      "  linkhealth doctor --sysroot /tmp/customer/sys\n"
      "\nExit codes: 0 everything that is there can be seen; 1 something can't; 2 wrong usage, or "
      "nobody could look.");
}

int run_doctor_or_look(const LocalCommands& local, const Client& client,
                       const DoctorOptions& options, const TextStyle& style) {
  if (options.sysroot.empty())
    if (const auto exit_code = run_doctor(client, options, style)) return *exit_code;
  return local.doctor(options, style);
}

int run_module(const LocalCommands& local, const Client& client, const ModuleOptions& options,
               const TextStyle& style) {
  if (options.port.empty() && options.file.empty()) {
    complain("module: say a port or --file FILE (linkhealth status lists the ports)");
    return kBadInput;
  }
  if (!options.file.empty()) return local.module(options, style);
  return run_module(client, options.port, options.json, style);
}

int dispatch(const CLI::App& app, Parsed& parsed, const LocalCommands& local) {
  const Client client(parsed.socket);
  const TextStyle style = output_style();
  if (app.got_subcommand("status"))
    return parsed.once ? local.once({parsed.sysroot, parsed.status, style})
                       : run_status(client, parsed.status, style);
  if (app.got_subcommand("explain")) return run_explain(client, parsed.explain, style);
  if (app.got_subcommand("history")) return run_history(client, parsed.history, style);
  if (app.got_subcommand("watch")) return run_watch(client, parsed.watch);
  if (local.doctor && app.got_subcommand("doctor"))
    return run_doctor_or_look(local, client, parsed.doctor, style);
  if (local.replay && app.got_subcommand("replay")) return local.replay(parsed.replay, style);
  if (local.rules && app.got_subcommand("rules")) return local.rules(client, parsed.rules, style);
  if (local.fleet && app.got_subcommand("fleet")) return local.fleet(parsed.fleet, style);
  if (local.module && app.got_subcommand("module"))
    return run_module(local, client, parsed.module, style);
  if (const auto exit_code = dispatch_more(app, parsed.more, client, local, style))
    return *exit_code;
  const auto duration = parse_duration_s(parsed.record_for);
  if (!duration) {
    complain("record --for: " + duration.error().message);
    return kBadInput;
  }
  parsed.record.duration_s = *duration;
  return run_record(client, parsed.record);
}

}  // namespace

namespace {

int parse_and_run(int argc, const char* const* argv, const LocalCommands& local) {
  CLI::App app("Which RDMA link is faulty, at which end, and what to do", "linkhealth");
  Parsed parsed;
  app.set_version_flag("--version", std::string("linkhealth " LINKHEALTH_VERSION));
  app.add_option("--socket", parsed.socket, "The daemon's socket")
      ->capture_default_str()
      ->type_name("PATH");
  app.fallthrough();
  app.allow_extras();  // to tell what was probably meant
  add_status(app, parsed, local);
  add_explain(app, parsed);
  add_history(app, parsed);
  add_watch(app, parsed);
  add_record(app, parsed);
  if (local.replay) add_replay(app, parsed);
  if (local.module) add_module(app, parsed);
  if (local.doctor) add_doctor(app, parsed);
  if (local.rules) add_rules(app, parsed);
  if (local.fleet) add_fleet(app, parsed.fleet);
  add_more(app, parsed.more, local);
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    complain(usage_words(app, wrong));
    return kBadInput;
  }
  if (const auto mistake = misused(app)) {
    complain(*mistake);
    return kBadInput;
  }
  return dispatch(app, parsed, local);
}

}  // namespace

int run(int argc, const char* const* argv, const LocalCommands& local) {
  return after_output(parse_and_run(argc, argv, local));
}

}  // namespace linkhealth::cli
