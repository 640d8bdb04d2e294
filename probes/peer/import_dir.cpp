#include "probes/peer/import_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/owned_fd.h"

namespace linkhealth {

namespace {

/// Why a file or directory with this status is not trusted; "" if it is.
std::string find_distrust(const struct stat& status) {
  if (status.st_uid != 0 && status.st_uid != geteuid())
    return "owned by neither root nor this daemon's user";
  if ((status.st_mode & S_IWOTH) != 0) return "every user may write to it (chmod o-w)";
  return {};
}

bool is_wanted(std::string_view name) { return !name.starts_with('.') && name.ends_with(".json"); }

Error refused(int errnum) {
  if (errnum == ELOOP) return {"a symbolic link: put the file itself here", errnum};
  return {std::strerror(errnum), errnum};
}

/// With O_DIRECTORY the kernel reports a symbolic link like a file.
Error refused_directory(const std::string& path, int errnum) {
  struct stat status {};
  if (errnum == ENOTDIR && lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    return {path + ": a symbolic link: name the directory itself", ELOOP};
  return errno_error(path, errnum);
}

/// At most kMaxImportFileBytes + 1 bytes.
Result<std::string> read_all(int fd) {
  std::string text(kMaxImportFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

class LiveImportDirectory final : public ImportDirectory {
 public:
  explicit LiveImportDirectory(std::string path) : path_(std::move(path)) {}

  Result<std::vector<std::string>> names() override {
    std::vector<std::string> found;
    OwnedFd fd(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd && errno == ENOENT) return found;
    if (!fd) return refused_directory(path_, errno);
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) return errno_error(path_, errno);
    if (const std::string why = find_distrust(status); !why.empty())
      return Error{path_ + ": " + why, EACCES};
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(fdopendir(fd.get()), &closedir);
    if (!directory) return errno_error(path_, errno);
    fd.release();  // closedir() closes it
    while (found.size() <= kMaxImportFiles) {
      const dirent* const entry = readdir(directory.get());
      if (entry == nullptr) break;
      if (is_wanted(entry->d_name)) found.emplace_back(entry->d_name);
    }
    std::ranges::sort(found);
    return found;
  }

  Result<std::string> read(const std::string& name) override {
    // Non-blocking: a pipe without a writer would block the thread.
    const OwnedFd file(
        open((path_ + "/" + name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return refused(errno);
    struct stat before {};
    if (fstat(file.get(), &before) != 0) return refused(errno);
    if (!S_ISREG(before.st_mode)) return Error{"not a regular file", EINVAL};
    if (const std::string why = find_distrust(before); !why.empty()) return Error{why, EACCES};
    auto text = read_all(file.get());
    if (!text) return text;
    if (text->size() > kMaxImportFileBytes) return Error{"larger than 256 KiB", EFBIG};
    struct stat after {};
    if (fstat(file.get(), &after) != 0) return refused(errno);
    if (static_cast<off_t>(text->size()) != after.st_size ||
        before.st_mtim.tv_sec != after.st_mtim.tv_sec ||
        before.st_mtim.tv_nsec != after.st_mtim.tv_nsec)
      return Error{"changed while it was read: write another name and rename it", EBUSY};
    return text;
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<ImportDirectory> open_import_directory(std::string path) {
  return std::make_unique<LiveImportDirectory>(std::move(path));
}

}  // namespace linkhealth
