// What the daemon says on standard error: for a person in the foreground, with priorities for the
// journal under systemd.
#pragma once

#include <atomic>
#include <string>

#include "config/config.h"

namespace linkhealth {

class Log {
 public:
  /// `for_journal`: begin each line with its syslog priority in angle brackets (sd-daemon(3)).
  Log(LogLevel level, bool for_journal) : level_(level), for_journal_(for_journal) {}

  void set_level(LogLevel level) { level_ = level; }
  /// One line each. Control characters in `text` do not reach the terminal.
  void error(const std::string& text) const { say(LogLevel::kError, text); }
  void warning(const std::string& text) const { say(LogLevel::kWarning, text); }
  void info(const std::string& text) const { say(LogLevel::kInfo, text); }
  void debug(const std::string& text) const { say(LogLevel::kDebug, text); }

 private:
  void say(LogLevel level, const std::string& text) const;

  std::atomic<LogLevel> level_;  ///< several threads speak
  bool for_journal_;
};

}  // namespace linkhealth
