#include "daemon/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace linkhealth {

EventLog::EventLog(std::string path, std::size_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes) {}

Result<void> EventLog::append(std::string_view line) {
  if (path_.empty()) return {};
  struct stat info {};
  if (::stat(path_.c_str(), &info) == 0 &&
      static_cast<std::size_t>(info.st_size) + line.size() >= max_bytes_)
    std::rename(path_.c_str(), (path_ + ".1").c_str());
  // Opened anew each time: events are rare, and the file may have been moved away by logrotate.
  const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return errno_error("opening " + path_, errno);
  const std::string whole = std::string(line) + "\n";
  const ssize_t written = ::write(fd, whole.data(), whole.size());
  const int failed = written < 0 ? errno : ENOSPC;
  ::close(fd);
  if (written != static_cast<ssize_t>(whole.size())) return errno_error("writing " + path_, failed);
  return {};
}

}  // namespace linkhealth
