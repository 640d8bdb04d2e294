// `linkhealth demo`: its own daemon that plays a simulated node, and a guided tour of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/text.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/status_document.h"
#include "cli/terminal.h"
#include "daemon/daemon.h"
#include "daemon/loop.h"
#include "exporters/text/text.h"
#include "exporters/web_files.h"

namespace linkhealth::cli {

namespace {

// The recording: the fault opens after 43 min, and verifying the repair takes two hours.
constexpr double kPlaySpeed = 180;
constexpr Milliseconds kLook{200};
// six minutes of the recording, in which the confidence rises.
constexpr Milliseconds kSettled{2'000};
constexpr Milliseconds kLongestStart{20'000}, kLongestOnset{120'000};

/// A directory for the socket, the log and the state; removed at the end.
class WorkDirectory {
 public:
  WorkDirectory() {
    std::error_code missing;
    const auto parent = std::filesystem::temp_directory_path(missing);
    if (missing) throw CommandError(kBadInput, "demo: TMPDIR is not a directory");
    std::string name = (parent / "linkhealth-demo-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw CommandError(kBadInput, errno_error("demo: cannot create " + name, errno).message);
    path_ = name;
  }
  ~WorkDirectory() { remove(); }
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The daemon as a child process, which ends with this one.
class DemoDaemon {
 public:
  DemoDaemon(const WorkDirectory& work, const Clock& clock) {
    if (pipe2(control_.data(), O_CLOEXEC) != 0)
      throw CommandError(kBadInput, errno_error("demo: no pipe", errno).message);
    std::fflush(nullptr);  // otherwise both processes would write buffered output
    const pid_t guide = getpid();
    child_ = fork();
    if (child_ < 0) throw CommandError(kBadInput, errno_error("demo: no process", errno).message);
    if (child_ == 0) {
      const int status = run_child(work, clock, control_[0]);
      if (getppid() != guide) work.remove();  // the guide was killed and cannot do it
      _exit(status);
    }
    close(control_[0]);
  }
  ~DemoDaemon() {
    close(control_[1]);
    kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
  }
  DemoDaemon(const DemoDaemon&) = delete;
  DemoDaemon& operator=(const DemoDaemon&) = delete;

  void hold() const { send('h'); }
  void go_on() const { send('r'); }
  [[nodiscard]] bool runs() const { return waitpid(child_, nullptr, WNOHANG) == 0; }

 private:
  void send(char command) const {
    if (write(control_[1], &command, 1) != 1) complain("demo: the daemon ended");
  }
  static int run_child(const WorkDirectory& work, const Clock& clock, int control) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);  // Ctrl-C is for the guide, which ends the daemon
    const int log_file = open((work / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(log_file, STDOUT_FILENO);
    dup2(log_file, STDERR_FILENO);
    DaemonOptions options;
    options.listen = "127.0.0.1:0";
    options.socket = work / "linkhealth.sock";
    options.state_dir = work / "state";
    options.play_file = work / "demo.jsonl.gz";
    options.play_speed = kPlaySpeed;
    options.play_control_fd = control;
    Log log(LogLevel::kInfo, false);
    auto config = effective_config(options);
    if (!config) return kBadInput;
    block_loop_signals();
    const auto ended = run_daemon(*std::move(config), options, clock, log);
    if (!ended) log.error("linkhealthd: " + ended.error().message);
    return ended ? kOk : kDaemonError;
  }

  std::array<int, 2> control_{};
  pid_t child_ = -1;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// How another terminal calls this program: by its name if PATH has it, else by its path.
std::string this_program() {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const char* path = std::getenv("PATH");
  for (const auto folder : split(path == nullptr ? "" : path, ':'))
    if (std::filesystem::equivalent(std::string(folder) + "/linkhealth", self, unknown))
      return "linkhealth";
  const auto here = std::filesystem::proximate(self, unknown);
  const std::string shown = here.native().starts_with("..") ? self.native() : here.native();
  return self.empty() ? "linkhealth" : shown;
}

/// The address of the page, from the daemon's log; "" until it is logged.
std::string page_address(const WorkDirectory& work) {
  constexpr std::string_view kBefore = "metrics at ", kAfter = "metrics";
  const std::string log = read_file(work / "log");
  const auto at = log.find(kBefore);
  const auto end = at == std::string::npos ? at : log.find('\n', at);
  if (end == std::string::npos) return "";
  const std::string address = log.substr(at + kBefore.size(), end - at - kBefore.size());
  return address.substr(0, address.size() - kAfter.size());
}

class Guide {
 public:
  explicit Guide(const Context& context)
      : context_(context), daemon_(prepared(work_), context.clock) {}

  int run() {
    print(
        "A simulated node with two 400G ports; no hardware of this machine is read.\n"
        "A connector gets dirty in about 15 s.\n");
    wait_for("the daemon does not start", kLongestStart,
             [&] { return !(page_ = page_address(work_)).empty(); });
    if (stopped_) return kOk;
    print(fmt::format("\n  page      {}\n  metrics   {}metrics\n", page_, page_));
    wait_for("no fault opened", kLongestOnset, [&] { return find_fault(); });
    if (stopped_) return kOk;
    const SteadyTime found = context_.clock.steady();
    wait_for("", kLongestOnset, [&] { return context_.clock.steady() - found > kSettled; });
    daemon_.hold();
    find_fault();
    show_fault();
    if (!wait_for_enter()) return kOk;
    print("\nThe connector is cleaned and plugged in again ...\n");
    daemon_.go_on();
    wait_for("the fault is still open", kLongestOnset, [&] { return !shows_fault(); });
    if (stopped_) return kOk;
    print("\nTwo hours of the recording pass in 45 s:\n");
    std::fflush(stdout);
    run_verify({client_, context_.style, context_.clock}, {.port = port_});
    if (isatty(STDIN_FILENO) != 1) return kOk;
    print(fmt::format("\nThe daemon keeps serving {} until Ctrl-C.\n", page_));
    std::fflush(stdout);
    LiveScreen screen(false);  // Ctrl-C ends the waiting
    while (screen.wait(Milliseconds(1'000)) && daemon_.runs()) {
    }
    return kOk;
  }

 private:
  static const WorkDirectory& prepared(const WorkDirectory& work) {
    constexpr const char* kName = "demo.jsonl.gz";
    const auto files = embedded_files();
    const auto recording = std::ranges::find(files, kName, &EmbeddedFile::name);
    std::ofstream file(work / kName, std::ios::binary);
    file << recording->bytes << std::flush;
    if (!file) throw CommandError(kBadInput, "demo: cannot write the recording");
    return work;
  }

  template <typename Done>
  void wait_for(const char* otherwise, Milliseconds longest, Done done) {
    const SteadyTime begun = context_.clock.steady();
    std::fflush(stdout);
    LiveScreen screen(false);
    while (!done()) {
      if (!daemon_.runs() || context_.clock.steady() - begun > longest)
        throw CommandError(kDaemonError,
                           fmt::format("demo: {}: {}", otherwise, read_file(work_ / "log")));
      stopped_ = !screen.wait(kLook);
      if (stopped_) return;
    }
  }

  bool find_fault() {
    try {
      status_ = fetch_status(client_);
    } catch (const CommandError&) {
      return false;  // it has just started
    }
    for (const PortReport& port : status_.report.ports)
      if (!port.faults.empty()) port_ = port.port;
    return !port_.empty();
  }

  bool shows_fault() {
    try {
      const auto& faults = port_named((status_ = fetch_status(client_)).report, port_).faults;
      return !faults.empty() && faults.front().state != FaultState::kProving;
    } catch (const CommandError&) {
      return true;
    }
  }

  void show_fault() {
    const std::string program = this_program() + " --socket " + work_ / "linkhealth.sock";
    print("\n$ linkhealth status\n" + status_of(status_, {}, context_.style));
    print(fmt::format("\n$ linkhealth explain {}\n", port_) +
          explanation_of(status_, port_named(status_.report, port_), {}, context_.style));
    print(fmt::format(
        "\n{2}\n"
        "  {0} watch\n"
        "  {0} ack {1} --for 2h --reason 'cleaning pen ordered'\n"
        "  {0} maintenance start {1} --for 1h --reason cleaning\n"
        "  {0} ticket {1}\n",
        program, port_,
        isatty(STDIN_FILENO) == 1 ? "The recording is paused. In another terminal:"
                                  : "Without a terminal the demo goes on. Until it ends, you can "
                                    "run:"));
    std::fflush(stdout);
  }

  /// False after Ctrl-C. Without a terminal nothing is asked.
  bool wait_for_enter() {
    if (isatty(STDIN_FILENO) != 1) return true;
    print("\nEnter cleans the connector; Ctrl-C ends the demo. ");
    std::fflush(stdout);
    return LiveScreen(false).wait_for_line();
  }

  const Context& context_;
  WorkDirectory work_;
  DemoDaemon daemon_;
  Client client_{work_ / "linkhealth.sock"};
  StatusDocument status_;
  std::string page_;
  PortKey port_;
  bool stopped_ = false;
};

}  // namespace

int run_demo(const Context& context, const DemoOptions& /*options*/) {
  return Guide(context).run();
}

}  // namespace linkhealth::cli
