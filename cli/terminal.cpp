#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace linkhealth::cli {

namespace {

constexpr int kUsualColumns = 100;

sigset_t live_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&set, signal);
  return set;
}

bool utf8_locale(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name).value_or("");
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::optional<std::string> real_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

TextStyle style_for(bool is_terminal, std::optional<int> terminal_columns,
                    const Environment& environment) {
  TextStyle style;
  style.colour =
      is_terminal && environment("NO_COLOR").value_or("").empty() && environment("TERM") != "dumb";
  style.ascii = !utf8_locale(environment);
  style.width_columns = kUsualColumns;
  if (const auto columns = parse_u64(environment("COLUMNS").value_or(""));
      columns && *columns > 0 && *columns <= 1000)
    style.width_columns = static_cast<int>(*columns);
  if (terminal_columns && *terminal_columns > 0) style.width_columns = *terminal_columns;
  return style;
}

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

TextStyle output_style() {
  winsize size{};
  std::optional<int> columns;
  if (output_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return style_for(output_is_terminal(), columns, &real_environment);
}

LiveScreen::LiveScreen(bool is_terminal) : is_terminal_(is_terminal) {
  const sigset_t set = live_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (is_terminal_) put("\x1b[?1049h\x1b[?25l");
}

LiveScreen::~LiveScreen() {
  if (is_terminal_) put("\x1b[?25h\x1b[?1049l");
  if (signals_ >= 0) close(signals_);
  const sigset_t set = live_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void LiveScreen::draw(const std::string& text) const {
  if (!is_terminal_) return put(text);
  // Each line clears what it leaves of the former one, and the end clears the rest: no flicker.
  std::string frame = "\x1b[H";
  for (const char c : text) frame += c == '\n' ? std::string("\x1b[K\r\n") : std::string(1, c);
  put(frame + "\x1b[J");
}

bool LiveScreen::wait(Milliseconds duration) const {
  pollfd ready{signals_, POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(duration.count())) <= 0) return true;
  signalfd_siginfo info{};
  bool go_on = true;
  while (read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
    go_on = go_on && info.ssi_signo == static_cast<std::uint32_t>(SIGWINCH);
  return go_on;
}

}  // namespace linkhealth::cli
