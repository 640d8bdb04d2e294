#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/fleet.h"
#include "cli/terminal.h"
#include "cli/usage.h"
#include "exporters/text/text_layout.h"

namespace linkhealth::cli {

namespace {

constexpr const char* kSocket = "/run/linkhealth/linkhealth.sock";
constexpr std::uint64_t kLongestAction_s =
    90 * kDay_s;  // same as the daemon (daemon/api/api_operator.cpp)
constexpr std::uint64_t kLongestHistory_s = 3650 * kDay_s;

constexpr const char* kFooter = R"(
PORT is any name of a port: mlx5_0, mlx5_0/1, its network interface, PCI address or GUID.

Examples:
  linkhealth                            the status of all ports
  linkhealth status --problems          only ports that need attention; exit code 1 if there are any
  linkhealth explain                    the worst open fault: diagnosis, evidence and what to do
  linkhealth explain mlx5_3             the same of one port
  linkhealth watch                      live: select a port, Enter explains it
  linkhealth history mlx5_3 --since 2d
  linkhealth ticket mlx5_3              what a technician needs at the rack
  linkhealth verify mlx5_3              check a repair: PASS or FAIL
  linkhealth ack mlx5_3 --for 2h --reason 'jumper ordered'
  linkhealth maintenance start all --for 4h --reason firmware
  linkhealth doctor                     which sources are unavailable, and how to enable them
  linkhealth record --for 10m night.jsonl.gz
  linkhealth demo                       a simulated node with a fault, without hardware
  linkhealth fleet --by switch          all nodes, from Prometheus (LINKHEALTH_PROMETHEUS)
  linkhealth status --json | jq '.ports[] | select(.health != "healthy")'

Exit codes:
  0 done
  1 status --problems: a port needs attention; doctor: a source is unavailable; cabling: a cable is
    in the wrong port; verify, qualify: failed
  2 wrong usage, unknown port, nothing to do on this port, unusable file
  3 the daemon (fleet: Prometheus) does not answer
  4 the daemon reports an error
  check uses the exit codes of Nagios.)";

struct Command {
  CLI::App* app;
  std::function<int(const Context&)> run;
};

class CommandTable {
 public:
  explicit CommandTable(CLI::App& app) : app_(app) {}

  /// Adds a command; `execute` is called with the options returned here.
  template <typename Options>
  std::pair<CLI::App&, Options&> add(const std::string& name, const std::string& description,
                                     int (*execute)(const Context&, const Options&)) {
    CLI::App* command = app_.add_subcommand(name, description);
    const auto options = std::make_shared<Options>();
    commands_.push_back(
        {command, [=](const Context& context) { return execute(context, *options); }});
    return {*command, *options};
  }
  /// Runs the given command; without one, `status`.
  [[nodiscard]] int run(const Context& context) const {
    for (const Command& command : commands_)
      if (command.app->parsed()) return command.run(context);
    return run_status(context, {});
  }

 private:
  CLI::App& app_;
  std::vector<Command> commands_;
};

/// `notes`: what the options alone do not explain; "" if nothing. Exit codes that are not listed
/// here are those of kFooter.
void set_footer(CLI::App& command, std::string_view notes, std::string_view examples,
                std::string_view exit_codes = "") {
  std::string text = fmt::format("{}{}\nExamples:\n{}", notes, notes.empty() ? "" : "\n", examples);
  constexpr std::size_t kColumns = 80;
  const auto codes = wrap(
      fmt::format("Exit codes: {}.", exit_codes.empty() ? "see linkhealth --help" : exit_codes),
      kColumns);
  command.footer(text + "\n" + join_parts(codes, "\n"));
}

void add_port(CLI::App& command, std::string& port) {
  command.add_option("port", port, "The port, by any of its names")->required()->type_name("PORT");
}

void add_json(CLI::App& command, bool& json, const std::string& description = "Print JSON") {
  command.add_flag("--json", json, description);
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, std::uint64_t& seconds,
                          const std::string& description, std::uint64_t longest_s = kDay_s) {
  return command
      .add_option_function<std::string>(
          name,
          [&seconds, name, longest_s](const std::string& text) {
            const auto duration = parse_duration_s(text, longest_s);
            if (!duration) throw CLI::ValidationError(name, duration.error().message);
            seconds = *duration;
          },
          description)
      ->type_name("TIME");
}

void add_sysroot(CLI::App& command, std::string& sysroot, const std::string& description,
                 CLI::Option* needed = nullptr) {
  auto* option = command.add_option("--sysroot", sysroot, description)
                     ->type_name("DIR")
                     ->check(CLI::Validator(CLI::ExistingDirectory).description(""));
  if (needed != nullptr) option->needs(needed);
}

void add_choice(CLI::Option& option, const std::string& type, std::vector<std::string> values) {
  option.check(CLI::Validator(CLI::IsMember(std::move(values))).description(""))->type_name(type);
}

void add_status(CommandTable& commands) {
  auto [command, options] = commands.add(
      "status", "One line per port: link, light, errors and verdict (the default)", &run_status);
  command.add_flag("--problems", options.problems,
                   "Only ports that need attention; exit code 1 if there are any");
  command.add_flag("--wide", options.wide, "All columns, no line wrapping");
  add_json(command, options.json, "Print the report as JSON");
  auto* once = command.add_flag("--once", options.once, "Read this node once, without the daemon");
  add_sysroot(command, options.sysroot, "With --once: read a copy of a node's /sys below DIR",
              once);
  set_footer(command, "",
             "  linkhealth status --problems\n"
             "  linkhealth status --json | jq '.ports[] | {port, health}'\n"
             "  linkhealth status --once --sysroot /tmp/customer\n");
}

void add_explain(CommandTable& commands) {
  auto [command, options] = commands.add(
      "explain", "The diagnosis of one port: evidence, repair steps, readings", &run_explain);
  command
      .add_option("port", options.port,
                  "The port, by any of its names (default: the one with the worst open fault)")
      ->type_name("PORT");
  command.add_flag("--evidence", options.evidence, "Add every symptom: present, absent or unknown");
  command.add_flag("--physics", options.physics,
                   "Add the link budget of both directions: sent, lost, received, margin");
  add_json(command, options.json, "Print the port's part of the report as JSON");
  set_footer(command, "",
             "  linkhealth explain\n"
             "  linkhealth explain mlx5_3\n"
             "  linkhealth explain 0000:9a:00.0 --evidence\n"
             "  linkhealth explain ens4np0 --json | jq '.faults[0].repair'\n");
}

void add_history(CommandTable& commands) {
  auto [command, options] = commands.add(
      "history", "Plots of light, errors and temperature; faults, repairs and maintenance",
      &run_history);
  add_port(command, options.port);
  add_duration(command, "--since", options.since_s, "How far back: 30m, 2h, 7d (default 7d)",
               kLongestHistory_s);
  command.add_flag("--ascii", options.ascii, "Draw with ASCII only");
  add_json(command, options.json, "Print JSON (docs/schema/history.json)");
  set_footer(command, "Each step (10 s, 1 min or 10 min) shows its worst value. Times are UTC.\n",
             "  linkhealth history ens1np0 --since 2h\n"
             "  linkhealth history mlx5_3 --since 90d --json | jq '.events[] | [.at, .event]'\n");
}

void add_watch(CommandTable& commands) {
  auto [command, options] = commands.add(
      "watch", "All ports, worst first, or one port; refreshed each second", &run_watch);
  command.add_option("port", options.port, "Explain this port")->type_name("PORT");
  command.add_flag("--problems", options.problems, "Only ports that need attention");
  add_json(command, options.json, "Print one line of JSON per refresh");
  command.add_option("--frames", options.frames, "End after N refreshes")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->type_name("N");
  set_footer(command,
             "On a terminal: up and down select a port, Enter explains it, Escape goes back, q "
             "quits.\n",
             "  linkhealth watch\n"
             "  linkhealth watch mlx5_3\n"
             "  linkhealth watch --json | jq -c '[.at, (.ports[] | .health)]'\n");
}

void add_demo(CommandTable& commands) {
  auto [command, options] = commands.add(
      "demo", "A simulated node: a fault opens in 15 s, then its repair is verified", &run_demo);
  (void)options;
  set_footer(command,
             "Plays a recording through a daemon of its own: page, metrics and every command work "
             "on it.\nNothing of this machine is read or changed.\n",
             "  linkhealth demo\n");
}

void add_doctor(CommandTable& commands) {
  auto [command, options] = commands.add(
      "doctor", "Which sources of each port are unavailable, why, and how to enable them",
      &run_doctor);
  add_json(command, options.json);
  add_sysroot(command, options.sysroot, "Read a copy of a node's /sys below DIR");
  set_footer(
      command,
      "The daemon answers with its own permissions. Without a daemon the command reads this "
      "node\nwith the permissions of its user.\n",
      "  linkhealth doctor\n"
      "  linkhealth doctor --json | jq '.ports[].sources[] | select(.state == \"hidden\")'\n",
      "0 all sources readable; 1 a source is unavailable; 2 wrong usage, or this node cannot "
      "be read");
}

void add_record(CommandTable& commands) {
  auto [command, options] =
      commands.add("record", "Record what the daemon reads, to replay it elsewhere", &run_record);
  add_duration(command, "--for", options.duration_s, "Duration: 90s, 10m, 2h, 1d (default 10m)");
  command
      .add_option("file", options.file, "A new file, compressed if it ends in .gz; - for stdout")
      ->required()
      ->type_name("FILE");
  set_footer(command,
             "The recording begins with the last reading of every source. Counters are read every "
             "10 s:\nrecord for a minute or more to see rates.\n",
             "  linkhealth record --for 10m night.jsonl.gz\n"
             "  linkhealth record --for 1m - | ssh desk linkhealth replay -\n");
}

void add_replay(CommandTable& commands) {
  auto [command, options] =
      commands.add("replay", "Diagnose a recording, without hardware", &run_replay);
  command.add_option("file", options.file, "A recording, plain or gzip; - for stdin")
      ->required()
      ->type_name("FILE");
  command.add_option("--config", options.config, "Use this configuration")->type_name("FILE");
  add_choice(*command.add_option("--format", options.format,
                                 "text, json (the last report) or jsonl (every event)"),
             "FORMAT", {"text", "json", "jsonl"});
  command
      .add_option("--what-if", options.what_if,
                  "Change a setting and list the diagnoses that change; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag_callback(
      "--json", [&format = options.format] { format = "json"; }, "Same as --format json");
  set_footer(command, "",
             "  linkhealth replay night.jsonl.gz\n"
             "  linkhealth replay night.jsonl.gz --format jsonl | jq -r '.event + \" \" + .port'\n"
             "  linkhealth replay week.jsonl.gz --what-if diagnosis.flap_losses=6\n");
}

void add_rules(CommandTable& commands) {
  auto [command, options] = commands.add(
      "rules", "Every fault and symptom: how it looks, what to do, where the rule comes from",
      &run_rules);
  command.add_option("name", options.name, "One fault or symptom, in full")->type_name("NAME");
  add_json(command, options.json);
  set_footer(command, "", "  linkhealth rules dirty_connector\n");
}

void add_module(CommandTable& commands) {
  auto [command, options] =
      commands.add("module", "The contents of a port's module, or of a saved EEPROM", &run_module);
  auto* port =
      command.add_option("port", options.port, "The port, by any of its names")->type_name("PORT");
  command.add_option("--file", options.file, "A dump of a module's EEPROM")
      ->type_name("FILE")
      ->excludes(port);
  add_json(command, options.json);
  set_footer(command, "",
             "  linkhealth module mlx5_3\n"
             "  ethtool -m ens4np0 raw on >module.bin; linkhealth module --file module.bin\n");
}

CLI::Option* add_action_options(CLI::App& command, ActionOptions& options,
                                const std::string& duration) {
  command.add_option("--reason", options.reason, "Why, for other operators")->type_name("TEXT");
  command.add_option("--by", options.by, "Your name (default: your user name)")->type_name("NAME");
  add_json(command, options.json, "Print the answer as JSON (docs/schema/action.json)");
  return add_duration(command, "--for", options.duration_s, duration, kLongestAction_s);
}

void add_ack(CommandTable& commands) {
  auto [command, options] =
      commands.add("ack", "Acknowledge a fault (silences its Prometheus alert)", &run_ack);
  add_port(command, options.port);
  auto* end = command.add_flag("--end", options.end, "Withdraw the acknowledgement");
  add_action_options(command, options, "Duration: 30m, 2h, 1d (default: until the fault closes)")
      ->excludes(end);
  command.get_option("--reason")->excludes(end);
  set_footer(command,
             "An acknowledgement survives a restart of the daemon. If the fault is still open when "
             "it ends,\nthe fault is reported again.\n",
             "  linkhealth ack mlx5_3 --for 2h --reason 'jumper ordered, ticket 4711'\n"
             "  linkhealth ack mlx5_3 --end\n");
}

void add_maintenance(CommandTable& commands) {
  auto [command, options] = commands.add(
      "maintenance", "Start or end maintenance of a port or of all: no fault is raised meanwhile",
      &run_maintenance);
  add_choice(*command.add_option("action", options.action, "start or end")->required(), "start|end",
             {"start", "end"});
  command.add_option("port", options.port, "The port, by any of its names, or all")
      ->required()
      ->type_name("PORT|all");
  add_action_options(command, options, "Duration: 30m, 2h, 1d (required by start)");
  command.add_flag("--no-module-reads", options.no_module_reads,
                   "Do not read the module meanwhile, e.g. during its firmware update");
  set_footer(command,
             "Ports are still read and shown; link losses do not count as flaps. Faults that are "
             "present at the\nend are raised then. Maintenance survives a restart of the daemon. A "
             "file in maintenance_dir,\nnamed after the port or all, does the same.\n",
             "  linkhealth maintenance start mlx5_3 --for 1h --reason 'new jumper'\n"
             "  linkhealth maintenance start all --for 4h --reason firmware\n"
             "  linkhealth maintenance end mlx5_3\n");
}

void add_check(CommandTable& commands) {
  auto [command, options] = commands.add(
      "check", "One line and an exit code for monitoring systems and schedulers", &run_check);
  command.add_option("port", options.port, "Only this port, by any of its names")
      ->type_name("PORT");
  auto* drain = command.add_flag("--drain-reason", options.drain_reason,
                                 "Print only a reason of at most 60 characters; nothing when OK");
  auto* perfdata =
      command.add_flag("--perfdata", options.perfdata, "Add performance data for Nagios");
  command.add_flag("--json", options.json, "Print JSON (docs/schema/check.json)")
      ->excludes(drain)
      ->excludes(perfdata);
  drain->excludes(perfdata);
  set_footer(
      command,
      "A port in maintenance or not monitored is OK. In a dry run everything is OK and the line "
      "reports\nwhat it would be. deploy/schedulers has examples for Slurm, NHC and Nagios.\n",
      "  linkhealth check mlx5_3 --perfdata\n"
      "  reason=$(linkhealth check --drain-reason); [ $? -eq 2 ] &&\n"
      "    scontrol update NodeName=$(hostname -s) State=DRAIN Reason=\"$reason\"\n",
      "0 OK; 1 WARNING: at risk or degraded; 2 CRITICAL: down, flapping or losing data; 3 UNKNOWN: "
      "unreadable, unknown port, or the daemon does not answer");
}

void add_ticket(CommandTable& commands) {
  auto [command, options] =
      commands.add("ticket", "What a technician needs at the rack, as Markdown", &run_ticket);
  command
      .add_option("port", options.port,
                  "The port, by any of its names (default: the one with the worst open fault)")
      ->type_name("PORT");
  add_json(command, options.json, "Print JSON (docs/schema/ticket.json)");
  set_footer(command, "Locations come from the configuration (site) and the cabling plan.\n",
             "  linkhealth ticket mlx5_3\n"
             "  linkhealth ticket mlx5_3 --json | jq -r '.near.serial, .far.serial'\n");
}

void add_cabling(CommandTable& commands) {
  auto [command, options] =
      commands.add("cabling", "Compare the cabling with the plan", &run_cabling);
  add_json(command, options.json, "Print JSON (docs/schema/cabling.json)");
  set_footer(command,
             "The configuration names the plan (plan: FILE); linkhealthd(8) describes it.\n",
             "  linkhealth cabling\n");
}

void add_verify_options(CLI::App& command, VerifyOptions& options) {
  command
      .add_option_function<std::string>(
          "--ber",
          [&options](const std::string& text) {
            const auto ratio = parse_double(text);
            if (!ratio || *ratio < 1e-18 || *ratio > 1e-6)
              throw CLI::ValidationError("--ber must be between 1e-18 and 1e-6",
                                         CLI::ExitCodes::ValidationError);
            options.ber = *ratio;
          },
          "Highest accepted bit error ratio after FEC (default 1e-15)")
      ->type_name("RATIO");
  add_duration(command, "--least", options.least_s,
               "Shortest time without a link loss: 10m, 30m, 2h (default 30m)");
  add_json(command, options.json, "Print a line of JSON each minute (docs/schema/verify.json)");
}

constexpr std::string_view kVerifyExitCodes =
    "0 PASS; 1 FAIL; 2 unknown or unmonitored port; 3 the daemon does not answer for 10 min; 4 not "
    "known: no error counter, or interrupted";

void add_verify(CommandTable& commands) {
  auto [command, options] = commands.add(
      "verify", "Acceptance test of a new or repaired link: PASS or FAIL", &run_verify);
  add_port(command, options.port);
  add_verify_options(command, options);
  set_footer(command,
             "PASS needs: no link loss, no uncorrectable block, no fault sign, and 3/RATIO bits "
             "without an error\n(95% confidence; 2 h 5 min at 400G and 1e-15). Without FEC some "
             "errors are allowed and more bits\nare needed. A restart of the daemon does not "
             "matter.\n",
             "  linkhealth verify mlx5_3\n"
             "  linkhealth verify mlx5_3 --ber 1e-14          13 min of bits at 400G, 30 min at "
             "least\n"
             "  linkhealth verify mlx5_3 --json | tail -n 1 | jq .state\n",
             kVerifyExitCodes);
}

void add_qualify(CommandTable& commands) {
  auto [command, options] =
      commands.add("qualify", "Acceptance test of all ports at once, at bring-up", &run_verify);
  add_verify_options(command, options);
  set_footer(command, "verify for every monitored port; ends when the last has passed or failed.\n",
             "  linkhealth qualify --ber 1e-14 --least 15m --json >qualified.jsonl\n",
             kVerifyExitCodes);
}

void add_fleet(CommandTable& commands) {
  auto [command, options] = commands.add(
      "fleet", "All nodes, from a Prometheus with linkhealth's rules; needs no daemon", &run_fleet);
  command.add_option("--prometheus", options.prometheus.url, "URL; may contain user:password@")
      ->envname("LINKHEALTH_PROMETHEUS")
      ->type_name("URL");
  auto* by = command.add_option("--by", options.by, "Count links by what they share");
  add_choice(*by, "switch|part|rack|rail|vendor", {"switch", "part", "rack", "rail", "vendor"});
  command
      .add_flag("--work-list", options.work_list,
                "The worst faults in walking order (pod, row, rack, U), as Markdown")
      ->excludes(by);
  command.add_option("--limit", options.limit, "Lines at most (default 20)")
      ->check(CLI::Validator(CLI::Range(1, 5000)).description(""))
      ->type_name("N");
  add_json(command, options.json);
  command
      .add_option("--bearer-token-file", options.prometheus.bearer_token_file,
                  "A file with the bearer token")
      ->type_name("FILE");
  command
      .add_option("--ca-file", options.prometheus.ca_file,
                  "Trusted certificate authorities (default: the system's)")
      ->envname("SSL_CERT_FILE")
      ->type_name("FILE");
  set_footer(
      command, "",
      "  export LINKHEALTH_PROMETHEUS=https://prometheus.example\n"
      "  linkhealth fleet\n"
      "  linkhealth fleet --by switch\n"
      "  linkhealth fleet --work-list >round.md\n"
      "  linkhealth fleet --json | jq -r '.faults[] | [.instance, .device, .fault] | @tsv'\n");
}

int parse_and_run(int argc, const char* const* argv, const Clock& clock) {
  CLI::App app("Which RDMA link is faulty, at which end, and what to do", "linkhealth");
  std::string socket = kSocket;
  app.set_version_flag("--version", std::string("linkhealth " LINKHEALTH_VERSION));
  app.add_option("--socket", socket, "The daemon's socket")
      ->capture_default_str()
      ->type_name("PATH");
  app.fallthrough();
  app.allow_extras();  // to suggest what was probably meant
  app.footer(kFooter);
  CommandTable commands(app);
  for (const auto& add : {add_status, add_explain, add_history, add_watch, add_demo, add_doctor,
                          add_ticket, add_verify, add_qualify, add_ack, add_maintenance, add_check,
                          add_cabling, add_module, add_record, add_replay, add_rules, add_fleet})
    add(commands);
  // The names of the commands are short: the lines fit more terminals.
  const auto narrow = std::make_shared<CLI::Formatter>();
  narrow->column_width(16);
  app.formatter(narrow);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw CommandError(kBadInput, describe_usage_error(app, error));
  }
  if (const auto mistake = find_usage_error(app)) throw CommandError(kBadInput, *mistake);
  const Client client(socket);
  return commands.run({client, output_style(), clock});
}

}  // namespace

int run(int argc, const char* const* argv, const Clock& clock) {
  return after_output(run_command([&] { return parse_and_run(argc, argv, clock); }));
}

}  // namespace linkhealth::cli
