#include "cli/apart.h"

#include <fcntl.h>
#include <sys/prctl.h>
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

/// The exit code's in the child, and nothing above it is open: a lock of the caller's ends with the
/// caller.
constexpr int kCodeFd = 3;

void keep_only(int code_fd) {
  const int apart = fcntl(code_fd, F_DUPFD, kCodeFd + 1);
  dup2(apart, kCodeFd);
  close_range(kCodeFd + 1, UINT_MAX, 0);
}

[[noreturn]] void be_the_child(int code_fd, const std::function<int()>& look) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE,
              SIG_IGN);  // killed with a thread that hangs it would end no sooner than that
  keep_only(code_fd);
  const auto code = static_cast<unsigned char>(after_output(look()));
  // A thread that hangs keeps the descriptors as long as the process: who reads our output must not
  // wait for that.
  for (int fd = STDIN_FILENO; fd < kCodeFd; ++fd) close(fd);
  if (write(kCodeFd, &code, 1) != 1) _exit(kDaemonError);
  _exit(code);
}

/// nullopt: the child ended without one.
std::optional<int> read_code(int fd) {
  unsigned char code = 0;
  ssize_t got = 0;
  do got = read(fd, &code, 1);
  while (got < 0 && errno == EINTR);
  return got == 1 ? std::optional<int>(code) : std::nullopt;
}

}  // namespace

int run_apart(const std::function<int()>& look) {
  std::array<int, 2> ends{};
  // A caller that has closed its output would have the pipe in its place.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0) return look();
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return look();
  std::fflush(nullptr);  // what is not written yet would be written twice
  const pid_t child = fork();
  if (child == 0) be_the_child(ends[1], look);
  close(ends[1]);
  const auto code = child > 0 ? read_code(ends[0]) : std::nullopt;
  close(ends[0]);
  if (child < 0) return look();
  if (!code) complain("the process that looks at this node has ended too soon");
  return code.value_or(kDaemonError);
}

}  // namespace linkhealth::cli
