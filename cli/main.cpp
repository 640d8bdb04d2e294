// linkhealth: reads the command line and the clock. The commands are in files of their own.
#include <iostream>

#include "cli/apart.h"
#include "cli/arguments.h"
#include "cli/local.h"
#include "cli/terminal.h"
#include "cli/verify.h"

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

// A read that hangs in the kernel may outlive main(): the clock must outlive it.
const RealClock kClock;

}  // namespace

int main(int argc, char** argv) {
  using namespace linkhealth;
  cli::LocalCommands local;
  local.once = [](const cli::OnceOptions& options) {
    return cli::run_apart([&] { return cli::status_once(options, kClock); });
  };
  local.replay = [](const cli::ReplayOptions& options, const TextStyle& style) {
    return cli::replay_file(options, style, kClock);
  };
  local.doctor = [](const cli::DoctorOptions& options, const TextStyle& style) {
    return cli::run_apart([&] { return cli::doctor_once(options, style, kClock); });
  };
  local.rules = &cli::run_rules;
  local.fleet = [](const cli::FleetOptions& options, const TextStyle& style) {
    return cli::run_fleet(options, style, kClock);
  };
  local.verify = [](const cli::Client& client, const cli::VerifyOptions& options,
                    const TextStyle& style) {
    const cli::LiveScreen screen(false);  // Ctrl-C ends the waiting
    const cli::ProofWorld world{kClock, [&](Milliseconds wait) { return screen.wait(wait); },
                                std::cout, cli::output_is_terminal()};
    return options.port.empty() ? cli::qualify(client, options, style, world)
                                : cli::verify(client, options, style, world);
  };
  local.cabling = &cli::run_cabling;
  local.module = &cli::show_module_file;
  return cli::run(argc, argv, local);
}
