#include "daemon/textfile_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/owned_fd.h"
#include "base/quiet_thread.h"

namespace linkhealth {

namespace {
constexpr Milliseconds kFirstReportWait{1'000};
}

TextfileWriter::TextfileWriter(const TextfileSettings& settings, const ReportStore& reports,
                               const Log& log)
    : path_(settings.path),
      period_(std::chrono::seconds(settings.period_s)),
      reports_(reports),
      log_(log),
      thread_(quiet_thread([this] { run(); })) {}

TextfileWriter::~TextfileWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  unlink(path_.c_str());
}

void TextfileWriter::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const bool has_report = reports_.current() != nullptr;
    if (has_report) write();
    lock.lock();
    changed_.wait_for(lock, has_report ? period_ : std::min(period_, kFirstReportWait),
                      [this] { return stopping_; });
  }
}

void TextfileWriter::write() {
  const auto written = replace_file(path_, reports_.current()->metrics({}));
  const std::string error = written ? "" : written.error().message;
  if (error == logged_error_) return;
  if (error.empty())
    log_.info("textfile: writable again");
  else
    log_.error("textfile: " + error);
  logged_error_ = error;
}

Result<void> replace_file(const std::string& path, std::string_view bytes) {
  const std::string next = path + ".new";  // the collector only reads *.prom
  const OwnedFd fd(open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return errno_error("opening " + next, errno);
  fchmod(fd.get(), 0644);  // node_exporter is another user, and the umask may be strict
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const Error error = errno_error("writing " + next, errno);
      unlink(next.c_str());
      return error;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return errno_error("renaming " + next, errno);
  return {};
}

}  // namespace linkhealth
