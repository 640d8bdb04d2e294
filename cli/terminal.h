// The properties of the terminal, and the alternate screen of `watch`.
#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

/// The environment as a function, so that a test can provide its own. nullopt: not set.
using Environment = std::function<std::optional<std::string>(const char*)>;
std::optional<std::string> real_environment(const char* name);

/// The style for standard output: colours only on a terminal, without NO_COLOR and if TERM is not
/// "dumb"; ASCII if the locale is not UTF-8; the terminal's width, else COLUMNS, else 100.
TextStyle style_for(bool is_terminal, std::optional<int> terminal_columns,
                    const Environment& environment);
/// style_for() for the actual standard output.
TextStyle output_style();
/// Whether standard output is a terminal.
bool output_is_terminal();

/// Lines of the terminal of standard output; 24 if it is not a terminal.
std::size_t output_rows();

/// What ends LiveScreen::wait().
enum class Key : std::uint8_t {
  kNone,  ///< timeout, resized terminal, or a key without a meaning
  kQuit,  ///< q, Ctrl-C, SIGTERM or SIGHUP
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kBack,  ///< Escape, Backspace or left
};
/// Takes the first key from `typed`, which keeps the rest.
Key take_key(std::string& typed);

/// During its lifetime: the alternate screen without a cursor, keys are read without Enter, and
/// Ctrl-C and SIGTERM only end wait(). The destructor restores everything.
class LiveScreen {
 public:
  explicit LiveScreen(bool is_terminal);
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  /// Replaces what is shown; if not on a terminal, just prints.
  void draw(const std::string& text) const;
  /// False after SIGINT, SIGTERM or SIGHUP. A resized terminal ends the wait early.
  bool wait(Milliseconds duration);
  /// Waits for a line of standard input. False at its end, or after a signal.
  bool wait_for_line();
  /// Like wait(), with the keys of a terminal.
  Key wait_for_key(Milliseconds duration);

 private:
  bool is_terminal_;
  int signals_;
  std::optional<termios> cooked_;  ///< of standard input, to be restored; nullopt: no keys are read
  std::string typed_;              ///< keys not yet handled
};

}  // namespace linkhealth::cli
