#include "storage/maintenance_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace linkhealth {

namespace {

namespace fs = std::filesystem;

struct File {
  std::string text;
  WallTime changed;
};

/// Nonblocking: a pipe in the directory must not block the daemon.
Result<File> read_small(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) return errno_error("can't read " + path, errno);
  File file;
  struct stat info {};
  file.text.resize(kMaxMaintenanceFileBytes + 1);
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t got = regular ? read(fd, file.text.data(), file.text.size()) : 0;
  const int errnum = errno;
  close(fd);
  if (!regular) return Error{path + " is not a regular file"};
  if (got < 0) return errno_error("can't read " + path, errnum);
  file.text.resize(static_cast<std::size_t>(got));
  if (file.text.size() > kMaxMaintenanceFileBytes)
    return Error{path + " has more than " + std::to_string(kMaxMaintenanceFileBytes) +
                 " bytes: file ignored"};
  file.changed = WallTime(std::chrono::seconds(info.st_mtim.tv_sec));
  return file;
}

/// Backup files of editors and package managers.
bool is_left_over(std::string_view name) {
  return name.starts_with('.') || name.ends_with('~') || name.ends_with(".swp") ||
         name.ends_with(".tmp");
}

}  // namespace

Result<Maintenance> parse_maintenance_file(std::string_view text, const std::string& path,
                                           WallTime changed) {
  Maintenance found;
  found.file = path;
  found.by = "file";
  found.since = changed;
  found.port = fs::path(path).filename().string();
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const auto colon = line.find(": ");
    const std::string_view key = line.substr(0, colon == std::string_view::npos ? 0 : colon);
    const std::string_view value =
        colon == std::string_view::npos ? "" : trim(line.substr(colon + 2));
    if (key == "until") {
      found.until = parse_rfc3339(value);
      if (!found.until)
        return Error{path + ": \"" + printable(value.substr(0, 60)) +
                     "\" is not a time such as 2026-11-20T14:00:00Z: file ignored"};
    } else if (key == "port") {
      found.port = printable(value);
    } else if (key == "module_reads") {
      if (value != "off")
        return Error{path + ": module_reads must be \"off\", not \"" +
                     printable(value.substr(0, 60)) + "\": file ignored"};
      found.module_reads = false;
    } else if (key == "by") {
      found.by = printable(value);
    } else {
      found.reason += (found.reason.empty() ? "" : " ") + printable(key == "reason" ? value : line);
    }
  }
  if (found.port == "all") found.port.clear();
  return found;
}

MaintenanceDir::Found MaintenanceDir::read() {
  Found found;
  if (path_.empty()) return found;
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(path_, error), end;
       !error && at != end && paths.size() <= kMaxMaintenanceFiles; at.increment(error))
    if (!is_left_over(at->path().filename().string())) paths.push_back(at->path().string());
  std::map<std::string, std::string> wrong;
  if (error && error.value() != ENOENT)
    wrong[path_] = "can't read " + path_ + ": " + error.message();
  if (paths.size() > kMaxMaintenanceFiles)
    wrong[path_] = path_ + " has more than " + std::to_string(kMaxMaintenanceFiles) +
                   " files: the others are ignored";
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const auto file = read_small(path);
    const auto one = file ? parse_maintenance_file(file->text, path, file->changed)
                          : Result<Maintenance>(file.error());
    if (one)
      found.maintenance.push_back(*one);
    else if (file || file.error().errnum != ENOENT)  // deleted since
      wrong[path] = one.error().message;
  }
  for (const auto& [path, what] : wrong)
    if (const auto before = reported_.find(path);
        before == reported_.end() || before->second != what)
      found.complaints.push_back(what);
  reported_ = std::move(wrong);
  return found;
}

}  // namespace linkhealth
