// linkhealthd: reads the command line and the clock; everything else is in daemon.cpp.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "daemon/daemon.h"
#include "daemon/loop.h"

namespace {

class RealClock : public linkhealth::Clock {
 public:
  [[nodiscard]] linkhealth::SteadyTime steady() const override {
    return std::chrono::time_point_cast<linkhealth::Milliseconds>(std::chrono::steady_clock::now());
  }
  [[nodiscard]] linkhealth::WallTime wall() const override {
    return std::chrono::time_point_cast<linkhealth::Milliseconds>(std::chrono::system_clock::now());
  }
};

// Threads whose reads hang in the kernel may outlive main(): the clock must outlive them.
const RealClock kClock;

constexpr int kBadInput = 2;

}  // namespace

int main(int argc, char** argv) {
  linkhealth::keep_memory_small();
  const auto parsed = linkhealth::parse_daemon_options(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  linkhealth::Log log(linkhealth::LogLevel::kInfo, std::getenv("JOURNAL_STREAM") != nullptr);
  auto config = linkhealth::effective_config(*parsed.options);
  if (!config) {
    log.error("linkhealthd: " + config.error().message);
    return kBadInput;
  }
  log.set_level(config->log_level);
  if (parsed.options->dump_config) {
    std::fputs(linkhealth::dump_config(*config).c_str(), stdout);
    return 0;
  }
  if (parsed.options->check_config) {
    const std::string& file = parsed.options->config_file;
    std::printf("%s\n", file.empty() ? "the defaults are good" : (file + " is good").c_str());
    return 0;
  }
  linkhealth::block_loop_signals();
  if (const auto ended = linkhealth::run_daemon(*std::move(config), *parsed.options, kClock, log); !ended) {
    log.error("linkhealthd: " + ended.error().message);
    return 1;
  }
  return 0;
}
