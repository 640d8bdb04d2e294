// linkhealthd: reads the command line and the clock; everything else is in daemon.cpp.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "daemon/daemon.h"
#include "daemon/http/http_auth.h"
#include "daemon/loop.h"
#include "daemon/preflight.h"
#include "daemon/reload.h"

namespace {

class RealClock : public linkhealth::Clock {
 public:
  [[nodiscard]] linkhealth::SteadyTime steady() const override {
    return linkhealth::SteadyTime(std::chrono::duration_cast<linkhealth::Milliseconds>(fine()));
  }
  [[nodiscard]] linkhealth::Microseconds fine() const override {
    return std::chrono::duration_cast<linkhealth::Microseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
  }
  [[nodiscard]] linkhealth::WallTime wall() const override {
    return std::chrono::time_point_cast<linkhealth::Milliseconds>(std::chrono::system_clock::now());
  }
};

// Threads whose reads hang in the kernel may outlive main(): the clock must outlive them.
const RealClock kClock;

constexpr int kBadInput = 2;

/// The daemon starts the threads that it needs at its start, and does without those that it cannot
/// start later. systemd restarts it if that fails.
linkhealth::Result<void> run(linkhealth::Config config, const linkhealth::DaemonOptions& options,
                             linkhealth::Log& log) {
  try {
    return linkhealth::run_daemon(std::move(config), options, kClock, log);
  } catch (const std::system_error& wrong) {
    if (wrong.code() != std::errc::resource_unavailable_try_again) throw;
    return linkhealth::Error{
        "cannot start a thread: the task limit (systemd: TasksMax) is reached"};
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = linkhealth::parse_daemon_options(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  umask(umask(0) | 0027U);  // state and recordings name modules and switches: not for every user
  linkhealth::Log log(linkhealth::LogLevel::kInfo, std::getenv("JOURNAL_STREAM") != nullptr);
  auto config = linkhealth::effective_config(*parsed.options);
  if (!config) {
    log.error("linkhealthd: " + config.error().message);
    return kBadInput;
  }
  log.set_level(config->log_level);
  if (parsed.options->dump_config) {
    if (std::fputs(linkhealth::dump_config(*config).c_str(), stdout) >= 0 &&
        std::fflush(stdout) == 0)
      return 0;
    log.error(linkhealth::errno_error("linkhealthd: cannot write the output", errno).message);
    return kBadInput;
  }
  if (parsed.options->check_config) {
    // The check includes the plan, the web configuration and whatever else a start would refuse.
    const auto complete = linkhealth::complete_config(*parsed.options, config->node);
    const auto starts =
        complete ? linkhealth::check_start(*complete, *parsed.options) : complete.error();
    if (!starts) {
      log.error("linkhealthd: " + starts.error().message);
      return kBadInput;
    }
    if (const std::string& web = config->web_config_file; !web.empty()) {
      const auto notes = linkhealth::HttpAuth::check(web);
      if (!notes) {
        log.error("linkhealthd: " + notes.error().message);
        return kBadInput;
      }
      for (const std::string& note : *notes) log.warning(note);
    }
    const std::string& file = parsed.options->config_file;
    std::printf("%s\n", file.empty() ? "the defaults are valid" : (file + " is good").c_str());
    return 0;
  }
  linkhealth::block_loop_signals();
  if (const auto ended = run(*std::move(config), *parsed.options, log); !ended) {
    log.error("linkhealthd: " + ended.error().message);
    return 1;
  }
  return 0;
}
