#include "cli/once.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <vector>

#include "config/config.h"
#include "daemon/daemon.h"
#include "daemon/engine/engine.h"
#include "daemon/preflight.h"
#include "daemon/sampling/peer_sources.h"
#include "daemon/sampling/sampler.h"
#include "daemon/selfcheck/doctor.h"
#include "exporters/json/doctor_json.h"
#include "exporters/json/json.h"
#include "exporters/text/doctor_text.h"
#include "exporters/text/text.h"
#include "probes/live_host.h"

namespace linkhealth::cli {

namespace {

// A module may take seconds to answer; after this time the report has what was read so far.
constexpr Milliseconds kLongestRead{8'000};

std::unique_ptr<Sampler> make_sampler(const std::string& sysroot, const Config& config,
                                      const Clock& clock) {
  const SamplerSettings settings = sampler_settings(config.setting_table);
  LiveHost host;
  RecordingHeader header;
  if (const auto name = host.read_file("/proc/sys/kernel/hostname"); name && sysroot.empty())
    header.node = name->substr(0, name->find('\n'));
  std::unique_ptr<ModuleReader> modules;
  if (sysroot.empty())
    modules = std::make_unique<ModuleReader>(std::make_unique<LiveHost>(), clock,
                                             module_timing(settings));
  auto sampler =
      std::make_unique<Sampler>([sysroot] { return std::make_unique<LiveHost>(sysroot); },
                                std::move(modules), clock, settings, header);
  if (sysroot.empty()) sampler->watch_far_ends(make_far_ends(config, clock, true));
  return sampler;
}

void wait_for(const Sampler& sampler, Milliseconds longest) {
  std::vector<pollfd> wanted;
  for (const int fd : sampler.wake_fds()) wanted.push_back({fd, POLLIN, 0});
  const auto due = std::min(sampler.until_due().value_or(longest), longest);
  poll(wanted.data(), wanted.size(), static_cast<int>(due.count()) + 1);
}

struct NodeReading {
  std::shared_ptr<const Report> report;
  std::set<std::string> sources;  ///< Sampler::sources()
};

NodeReading read_once(const std::string& sysroot, const Clock& clock) {
  if (!sysroot.empty())
    if (const auto copy = check_sysroot(sysroot); !copy)
      throw CommandError(kBadInput, copy.error().message);
  const Config config = default_config(all_setting_groups());
  allow_many_open_files();
  const auto sampler = make_sampler(sysroot, config, clock);
  EngineSettings settings;
  settings.node = sysroot.empty() ? sampler->header().node : sysroot;
  settings.setting_table = config.setting_table;
  Engine engine(std::move(settings));
  std::shared_ptr<const Report> report;
  const SteadyTime begun = clock.steady();
  bool announced = false;
  for (;;) {
    if (const auto snapshot = sampler->poll()) report = engine.step(*snapshot).report;
    const Milliseconds waited = clock.steady() - begun;
    if ((sampler->settled() && report) || waited >= kLongestRead) break;
    if (waited > Milliseconds(1'000) && !std::exchange(announced, true) &&
        isatty(STDERR_FILENO) != 0)
      complain("reading the modules");
    wait_for(*sampler, Milliseconds(1'000));
  }
  if (!report) throw CommandError(kBadInput, "no source on this node is readable");
  return {report, sampler->sources()};
}

NodeFacts facts_once(const std::string& sysroot, const std::set<std::string>& sources) {
  LiveHost host(sysroot);
  return gather_node_facts(host, false, !sysroot.empty(), sources, Config().lldpd_socket);
}

}  // namespace

int status_once(const Context& context, const StatusOptions& options) {
  const auto [report, sources] = read_once(options.sysroot, context.clock);
  const bool bad = options.problems && count_problems(*report) > 0;
  return print(
      options.json
          ? report_json(*report)
          : status_text(*report, context.style,
                        {.sight = count_sight(*report, facts_once(options.sysroot, sources)),
                         .problems_only = options.problems,
                         .wide = options.wide}),
      bad ? kProblems : kOk);
}

int doctor_once(const Context& context, const DoctorOptions& options) {
  const auto [report, sources] = read_once(options.sysroot, context.clock);
  return print_doctor(examine(*report, facts_once(options.sysroot, sources)), context, options);
}

int print_doctor(const DoctorReport& doctor, const Context& context, const DoctorOptions& options) {
  return print(options.json ? doctor_json(doctor) : doctor_text(doctor, context.style),
               doctor.hidden > 0 ? kProblems : kOk);
}

}  // namespace linkhealth::cli
