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

std::size_t output_rows() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
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
  if (!is_terminal_) return;
  // Long lines are cut at the edge instead of wrapping.
  put("\x1b[?1049h\x1b[?25l\x1b[?7l");
  termios cooked{};
  if (isatty(STDIN_FILENO) != 1 || tcgetattr(STDIN_FILENO, &cooked) != 0) return;
  cooked_ = cooked;
  termios raw = cooked;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

LiveScreen::~LiveScreen() {
  if (cooked_) tcsetattr(STDIN_FILENO, TCSANOW, &*cooked_);
  if (is_terminal_) put("\x1b[?7h\x1b[?25h\x1b[?1049l");
  if (signals_ >= 0) close(signals_);
  const sigset_t set = live_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void LiveScreen::draw(const std::string& text) const {
  if (!is_terminal_) return put(text);
  // Each line clears the remainder of the previous one, and the end clears the rest: no flicker.
  std::string frame = "\x1b[H";
  std::string_view shown = text;
  if (shown.ends_with('\n')) shown.remove_suffix(1);  // a full screen must not scroll
  for (const char c : shown) frame += c == '\n' ? std::string("\x1b[K\r\n") : std::string(1, c);
  put(frame + "\x1b[K\x1b[J");
}

Key take_key(std::string& typed) {
  struct Sequence {
    std::string_view bytes;
    Key key;
  };
  // Cursor keys as \x1b[ and, in application mode, as \x1bO. A longer sequence comes before its
  // prefix.
  constexpr Sequence kSequences[] = {{"\x1b[5~", Key::kPageUp}, {"\x1b[6~", Key::kPageDown},
                                     {"\x1b[1~", Key::kHome},   {"\x1b[4~", Key::kEnd},
                                     {"\x1b[A", Key::kUp},      {"\x1b[B", Key::kDown},
                                     {"\x1b[D", Key::kBack},    {"\x1b[C", Key::kEnter},
                                     {"\x1b[H", Key::kHome},    {"\x1b[F", Key::kEnd},
                                     {"\x1bOA", Key::kUp},      {"\x1bOB", Key::kDown},
                                     {"\x1bOD", Key::kBack},    {"\x1bOC", Key::kEnter},
                                     {"\x1bOH", Key::kHome},    {"\x1bOF", Key::kEnd},
                                     {"\x1b", Key::kBack},      {"\x7f", Key::kBack},
                                     {"\b", Key::kBack},        {"h", Key::kBack},
                                     {"\r", Key::kEnter},       {"\n", Key::kEnter},
                                     {"l", Key::kEnter},        {"k", Key::kUp},
                                     {"j", Key::kDown},         {"b", Key::kPageUp},
                                     {" ", Key::kPageDown},     {"g", Key::kHome},
                                     {"G", Key::kEnd},          {"q", Key::kQuit},
                                     {"\x03", Key::kQuit}};
  if (typed.empty()) return Key::kNone;
  for (const auto& [bytes, key] : kSequences)
    if (typed.starts_with(bytes)) {
      typed.erase(0, bytes.size());
      return key;
    }
  typed.erase(0, 1);
  return Key::kNone;
}

bool LiveScreen::wait(Milliseconds duration) { return wait_for_key(duration) != Key::kQuit; }

bool LiveScreen::wait_for_line() {
  pollfd ready[] = {{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  constexpr int kForever = -1;
  if (poll(ready, 2, kForever) <= 0 || ready[0].revents != 0) return false;
  char bytes[256];
  return read(STDIN_FILENO, bytes, sizeof(bytes)) > 0;
}

Key LiveScreen::wait_for_key(Milliseconds duration) {
  if (!typed_.empty()) return take_key(typed_);
  pollfd ready[] = {{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  if (poll(ready, cooked_ ? 2 : 1, static_cast<int>(duration.count())) <= 0) return Key::kNone;
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
    if (info.ssi_signo != static_cast<std::uint32_t>(SIGWINCH)) return Key::kQuit;
  if ((ready[1].revents & (POLLHUP | POLLERR)) != 0) return Key::kQuit;
  char bytes[64];
  if ((ready[1].revents & POLLIN) == 0) return Key::kNone;
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
  if (got <= 0) return Key::kQuit;  // the terminal is gone
  typed_.assign(bytes, static_cast<std::size_t>(got));
  return take_key(typed_);
}

}  // namespace linkhealth::cli
