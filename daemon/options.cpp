#include "daemon/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "daemon/daemon.h"
#include "daemon/history_keeper.h"
#include "daemon/sampling/peer_sources.h"
#include "daemon/sampling/sampler.h"
#include "diagnosis/settings.h"
#include "exporters/metrics/metrics.h"

namespace linkhealth {

namespace {

constexpr const char* kInstalledConfig = "/etc/linkhealth/linkhealth.yaml";  // of the unit
constexpr const char* kFooter =
    R"(Without a configuration file the defaults apply: linkhealthd --dump-config prints them.

Examples:
  linkhealthd                                     watch this node's ports, metrics at 127.0.0.1:9942
  linkhealthd --config linkhealth.yaml --check-config
  linkhealthd --sysroot /tmp/customer/sys         read a copy of a node's /sys
  linkhealthd --record node.jsonl.gz              record every reading, for linkhealth replay
  linkhealthd --play node.jsonl.gz --play-speed 60

Exit codes: 0 stopped by a signal, or the check passed; 1 failed to run; 2 wrong usage or configuration.
See linkhealthd(8) and linkhealth(1).)";

void add_flags(CLI::App& app, DaemonOptions& options) {
  app.add_option("--config", options.config_file, "configuration file (YAML)")->type_name("FILE");
  app.add_option("--listen", options.listen, "address of the metrics and the read-only API")
      ->type_name("ADDR:PORT");
  app.add_option("--socket", options.socket, "Unix socket of the API, for linkhealth")
      ->type_name("PATH");
  app.add_option("--state-dir", options.state_dir,
                 "directory of the state database (with --sysroot: no state is kept unless "
                 "given; with --play: none)")
      ->type_name("DIR");
  app.add_option(
         "--sysroot", options.sysroot,
         "read a copy of a node's /sys; without --state-dir no state is kept and nothing is "
         "sent")
      ->type_name("DIR")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""));
  app.add_option("--record", options.record_file,
                 "write a recording while running (.gz: compressed)")
      ->type_name("FILE");
  auto* play = app.add_option("--play", options.play_file,
                              "play a recording instead of reading this node's ports")
                   ->type_name("FILE");
  app.add_option("--play-speed", options.play_speed, "recorded seconds played per second")
      ->type_name("N")
      ->check(CLI::Range(0.001, 1e6))
      ->needs(play);
  app.add_flag("--dry-run", options.dry_run, "diagnose and show faults, write no journal entry");
  app.add_option("--log-level", options.log_level, "error, warning, info or debug")
      ->type_name("LEVEL")
      ->check(CLI::Validator(CLI::IsMember({"error", "warning", "info", "debug"})).description(""));
  app.add_flag("--check-config", options.check_config,
               "check the configuration (default: " + std::string(kInstalledConfig) +
                   ", if it exists), print the first error, and exit");
  app.add_flag("--dump-config", options.dump_config, "print every key with its value, and exit");
  app.set_version_flag("--version", "linkhealthd " LINKHEALTH_VERSION);
}

}  // namespace

ParsedOptions parse_daemon_options(int argc, const char* const* argv) {
  CLI::App app{
      "linkhealthd monitors this node's RDMA and Ethernet links and diagnoses their faults.",
      "linkhealthd"};
  app.footer(kFooter);
  DaemonOptions options;
  add_flags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return {std::nullopt, app.exit(done)};
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "linkhealthd: %s (linkhealthd --help)\n", wrong.what());
    return {std::nullopt, 2};
  }
  // A check without a file is one of what the unit would start with.
  if (options.check_config && options.config_file.empty() && access(kInstalledConfig, F_OK) == 0)
    options.config_file = kInstalledConfig;
  return {options, 0};
}

std::span<const SettingGroup> all_setting_groups() {
  static const std::vector<SettingGroup> groups = [] {
    std::vector<SettingGroup> all;
    for (const auto& part :
         {sampler_setting_groups(), metric_setting_groups(), history_setting_groups(),
          peer_setting_groups(), diagnosis_setting_groups()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return groups;
}

Result<Config> effective_config(const DaemonOptions& options) {
  auto config = options.config_file.empty()
                    ? Result<Config>(default_config(all_setting_groups()))
                    : load_config_file(options.config_file, all_setting_groups());
  if (!config) return config;
  if (options.listen) {
    const auto address = parse_listen_address(*options.listen);
    if (!address) return Error{"--listen: " + address.error().message};
    config->listen = *address;
  }
  if (options.log_level) {
    const auto level = parse_log_level(*options.log_level);
    if (!level) return Error{"--log-level: " + level.error().message};
    config->log_level = *level;
  }
  if (options.socket) config->socket_path = *options.socket;
  if (options.state_dir) config->state_dir = *options.state_dir;
  if (options.dry_run) config->dry_run = true;
  return config;
}

}  // namespace linkhealth
