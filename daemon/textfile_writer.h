// The metrics as a file for node_exporter's textfile collector.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/api/report_store.h"
#include "daemon/log.h"

namespace linkhealth {

/// Writes on its own thread, because a disk may hang. Removes the file at a regular end, so that
/// the values of a stopped monitor are not scraped as current ones.
class TextfileWriter {
 public:
  /// `reports` and `log` must outlive it.
  TextfileWriter(const TextfileSettings& settings, const ReportStore& reports, const Log& log);
  ~TextfileWriter();
  TextfileWriter(const TextfileWriter&) = delete;
  TextfileWriter& operator=(const TextfileWriter&) = delete;

 private:
  void run();
  void write();

  const std::string path_;
  const Milliseconds period_;
  const ReportStore& reports_;
  const Log& log_;
  std::string logged_error_;  ///< an error is logged once
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

/// Replaces `path` by `bytes`, mode 0644, atomically: a reader sees the old file or the new one.
Result<void> replace_file(const std::string& path, std::string_view bytes);

}  // namespace linkhealth
