#include "cli/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

/// What comes from the child: its standard output, its standard error, its exit code.
enum Stream : std::uint8_t { kOutput, kErrors, kCode };
struct Pipe {
  int read_end = -1;
  int write_end = -1;
};
using Pipes = std::array<Pipe, 3>;

/// A terminal is the child's, too: nobody waits for its end.
bool is_passed_on(std::size_t stream) {
  return stream == kCode || isatty(stream == kOutput ? STDOUT_FILENO : STDERR_FILENO) == 0;
}

void close_all(const Pipes& pipes, int Pipe::*end) {
  for (const Pipe& pipe : pipes)
    if (pipe.*end >= 0) close(pipe.*end);
}

std::optional<Pipes> open_pipes() {
  Pipes pipes;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (!is_passed_on(i)) continue;
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      close_all(pipes, &Pipe::read_end);
      close_all(pipes, &Pipe::write_end);
      return std::nullopt;
    }
    pipes.at(i) = {ends[0], ends[1]};
  }
  return pipes;
}

/// Descriptor 3 is the code's then, and nothing above it is open: a lock of the caller's ends with the caller.
void keep_only(const Pipes& pipes) {
  constexpr int kCodeFd = 3;
  // Not below 10: none of them is overwritten before it has its place.
  Pipes high;
  for (std::size_t i = 0; i < pipes.size(); ++i)
    if (pipes.at(i).write_end >= 0) high.at(i).write_end = fcntl(pipes.at(i).write_end, F_DUPFD, 10);
  if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, STDIN_FILENO);
  if (high[kOutput].write_end >= 0) dup2(high[kOutput].write_end, STDOUT_FILENO);
  if (high[kErrors].write_end >= 0) dup2(high[kErrors].write_end, STDERR_FILENO);
  dup2(high[kCode].write_end, kCodeFd);
  close_range(kCodeFd + 1, UINT_MAX, 0);
}

[[noreturn]] void be_the_child(const Pipes& pipes, const std::function<int()>& look) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  keep_only(pipes);
  const auto code = static_cast<unsigned char>(look());
  std::fflush(nullptr);
  // A thread that hangs keeps the descriptors as long as the process: they are closed before it ends.
  if (write(3, &code, 1) != 1) std::perror("linkhealth");
  for (int fd = STDIN_FILENO; fd <= 3; ++fd) close(fd);
  _exit(code);
}

/// Until the child has closed them all. Its exit code; nullopt: it ended without one.
std::optional<int> pass_on(const Pipes& pipes) {
  std::array<pollfd, 3> wanted{};
  for (std::size_t i = 0; i < pipes.size(); ++i) wanted.at(i) = {pipes.at(i).read_end, POLLIN, 0};
  std::optional<int> code;
  const auto is_open = [](const pollfd& each) { return each.fd >= 0; };
  while (std::ranges::any_of(wanted, is_open)) {
    if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted.at(i).fd < 0 || wanted.at(i).revents == 0) continue;
      std::array<char, 4096> bytes{};
      const ssize_t got = read(wanted.at(i).fd, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        wanted.at(i).fd = -1;
      else if (i == kCode)
        code = static_cast<unsigned char>(bytes[0]);
      else
        std::fwrite(bytes.data(), 1, static_cast<std::size_t>(got), i == kOutput ? stdout : stderr);
    }
  }
  return code;
}

}  // namespace

int run_apart(const std::function<int()>& look) {
  const auto pipes = open_pipes();
  if (!pipes) return look();
  std::fflush(nullptr);  // what is not written yet would be written twice
  const pid_t child = fork();
  if (child == 0) be_the_child(*pipes, look);
  close_all(*pipes, &Pipe::write_end);
  const auto code = child > 0 ? pass_on(*pipes) : std::nullopt;
  close_all(*pipes, &Pipe::read_end);
  if (child < 0) return look();
  if (!code) complain("the process that looks at this node has ended too soon");
  return code.value_or(kBadInput);
}

}  // namespace linkhealth::cli
