#include "cli/run_in_subprocess.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

/// The child's end of the pipe. All higher descriptors are closed: a lock held by the caller must
/// not outlive the caller.
constexpr int kExitCodeFd = 3;

void close_all_but(int exit_code_fd) {
  const int moved = fcntl(exit_code_fd, F_DUPFD, kExitCodeFd + 1);
  dup2(moved, kExitCodeFd);
  // glibc has no function for it before 2.34, Linux no call before 5.9.
  if (syscall(__NR_close_range, kExitCodeFd + 1, UINT_MAX, 0) == 0) return;
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = kExitCodeFd + 1; fd < most; ++fd) close(fd);
}

[[noreturn]] void run_child(int exit_code_fd, const std::function<int()>& command) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);  // it would not end a process with a hung thread
  close_all_but(exit_code_fd);
  const auto code = static_cast<unsigned char>(after_output(run_command(command)));
  // A hung thread keeps the process and its descriptors alive; the reader of our output must not
  // wait for it.
  for (int fd = STDIN_FILENO; fd < kExitCodeFd; ++fd) close(fd);
  if (write(kExitCodeFd, &code, 1) != 1) _exit(kDaemonError);
  _exit(code);
}

/// nullopt: the child ended without an exit code.
std::optional<int> read_exit_code(int fd) {
  unsigned char code = 0;
  ssize_t got = 0;
  do got = read(fd, &code, 1);
  while (got < 0 && errno == EINTR);
  return got == 1 ? std::optional<int>(code) : std::nullopt;
}

}  // namespace

int run_in_subprocess(const std::function<int()>& command) {
  // If the caller closed a standard stream, the pipe would take its descriptor.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0) return command();
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return command();
  std::fflush(nullptr);  // otherwise both processes would write buffered output
  const pid_t child = fork();
  if (child == 0) run_child(ends[1], command);
  close(ends[1]);
  const auto code = child > 0 ? read_exit_code(ends[0]) : std::nullopt;
  close(ends[0]);
  if (child < 0) return command();
  if (!code) complain("the process that reads this node ended unexpectedly");
  return code.value_or(kDaemonError);
}

}  // namespace linkhealth::cli
