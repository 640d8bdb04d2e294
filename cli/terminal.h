// The properties of the terminal, and the alternate screen of `watch`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

/// The environment as a function, so that a test can have its own. nullopt: not set.
using Environment = std::function<std::optional<std::string>(const char*)>;
std::optional<std::string> real_environment(const char* name);

/// The style for standard output: colours only on a terminal, without NO_COLOR and where TERM is
/// not "dumb"; ASCII where the locale is not UTF-8; the terminal's width, else COLUMNS, else 100.
TextStyle style_for(bool is_terminal, std::optional<int> terminal_columns,
                    const Environment& environment);
/// style_for with what standard output really is.
TextStyle output_style();
/// Whether standard output is a terminal.
bool output_is_terminal();

/// While it lives: the alternate screen without a cursor, and Ctrl-C and SIGTERM only end wait().
/// Restores all at its end.
class LiveScreen {
 public:
  explicit LiveScreen(bool is_terminal);
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  /// Replaces what is shown; without a terminal, just prints.
  void draw(const std::string& text) const;
  /// False after SIGINT, SIGTERM or SIGHUP. A resized terminal ends the wait early.
  bool wait(Milliseconds duration) const;

 private:
  bool is_terminal_;
  int signals_;
};

}  // namespace linkhealth::cli
