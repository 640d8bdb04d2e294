// Log lines on standard error; with priorities for the journal under systemd.
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
  /// One line each. Control characters in `text` are replaced.
  void error(const std::string& text) const { write(LogLevel::kError, text); }
  void warning(const std::string& text) const { write(LogLevel::kWarning, text); }
  void info(const std::string& text) const { write(LogLevel::kInfo, text); }
  void debug(const std::string& text) const { write(LogLevel::kDebug, text); }

 private:
  void write(LogLevel level, const std::string& text) const;

  std::atomic<LogLevel> level_;  ///< several threads log
  bool for_journal_;
};

}  // namespace linkhealth
