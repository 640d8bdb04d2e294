// linkhealth: the command-line program. Only this file reads a clock.
#include <sys/stat.h>

#include <chrono>

#include "cli/arguments.h"

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
  umask(umask(0) | 0027U);  // recordings name modules and switches: not for every user
  return linkhealth::cli::run(argc, argv, kClock);
}
