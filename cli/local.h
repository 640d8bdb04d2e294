// The commands that need no daemon: they bring the sampler, the engine and the decoders with them.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/time.h"
#include "cli/arguments.h"
#include "model/report.h"

namespace linkhealth::cli {

/// `status --once`: looks at this node, or at a copy of a node's /sys, until everything was read
/// once, judges, and prints as `status` does. What only time can tell (rates, flaps) is not known
/// then.
int status_once(const OnceOptions& options, const Clock& clock);
struct Look {
  std::shared_ptr<const Report> report;  ///< null: nothing could be read
  std::set<std::string> sources;         ///< Sampler::sources()
};
/// Samples this node (or a copy of a node's /sys) until everything was read once, and judges. A
/// complaint is made when nothing could be read.
Look look_once(const std::string& sysroot, const Clock& clock);
/// `doctor` without a daemon: what this command itself can see.
int doctor_once(const DoctorOptions& options, const TextStyle& style, const Clock& clock);
/// `replay FILE`.
int replay_file(const ReplayOptions& options, const TextStyle& style, const Clock& clock);
/// `rules`: as the daemon counts them; without a daemon the defaults.
int run_rules(const Client& client, const RulesOptions& options, const TextStyle& style);
/// `module --file FILE`.
int show_module_file(const ModuleOptions& options, const TextStyle& style);

/// `cabling`: the daemon compares; --learn writes a plan.
int run_cabling(const Client& client, const CablingOptions& options, const TextStyle& style);

}  // namespace linkhealth::cli
