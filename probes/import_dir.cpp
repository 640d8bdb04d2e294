#include "probes/import_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace linkhealth {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

FileFacts facts_of(const struct stat& status) {
  return {S_ISREG(status.st_mode), S_ISDIR(status.st_mode), status.st_uid, status.st_mode & 07777U,
          static_cast<std::uint64_t>(status.st_size)};
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/// Whether nobody wrote to the file in between. Its change time tells of who puts the other one
/// back, and moves as well when the file loses its name: a writer who renames the next file over
/// this one has done right, and its bytes are whole.
bool same_content(const struct stat& before, const struct stat& after) {
  return before.st_size == after.st_size && same_time(before.st_mtim, after.st_mtim) &&
         (after.st_nlink == 0 || same_time(before.st_ctim, after.st_ctim));
}

bool is_wanted(std::string_view name) { return !name.starts_with('.') && name.ends_with(".json"); }

Error refused(int errnum) {
  if (errnum == ELOOP) return {"a symbolic link: put the file itself here", errnum};
  return {std::strerror(errnum), errnum};
}

/// With O_DIRECTORY the kernel says of a symbolic link what it says of a file.
Error refused_directory(const std::string& path, int errnum) {
  struct stat status {};
  if (errnum == ENOTDIR && lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    return {path + ": a symbolic link: name the directory itself", ELOOP};
  return errno_error(path, errnum);
}

class LiveImportDirectory final : public ImportDirectory {
 public:
  LiveImportDirectory(std::string path, std::function<void()> after_bytes)
      : path_(std::move(path)), after_bytes_(std::move(after_bytes)) {}

  Result<std::vector<std::string>> names() override {
    std::vector<std::string> found;
    const int fd = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return found;
    if (fd < 0) return refused_directory(path_, errno);
    DIR* directory = fdopendir(fd);
    if (directory == nullptr) {
      const int errnum = errno;
      close(fd);
      return errno_error(path_, errnum);
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(directory, &closedir);
    struct stat status {};
    if (fstat(fd, &status) != 0) return errno_error(path_, errno);
    if (const std::string why = distrust(facts_of(status), geteuid()); !why.empty())
      return Error{path_ + ": " + why, EACCES};
    for (const dirent* entry = readdir(directory);
         entry != nullptr && found.size() <= kMaxImportFiles; entry = readdir(directory))
      if (is_wanted(entry->d_name)) found.emplace_back(entry->d_name);
    std::ranges::sort(found);
    return found;
  }

  Result<std::string> read(const std::string& name) override {
    // Not blocking: a pipe with nobody at its other end would hold the thread.
    const Descriptor file(
        open((path_ + "/" + name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0) return refused(errno);
    struct stat before {};
    if (fstat(file.get(), &before) != 0) return refused(errno);
    const FileFacts facts = facts_of(before);
    if (!facts.regular) return Error{"not a regular file", EINVAL};
    if (const std::string why = distrust(facts, geteuid()); !why.empty()) return Error{why, EACCES};
    if (facts.size_bytes > kMaxImportFileBytes) return Error{"larger than 256 KiB", EFBIG};
    std::string text(kMaxImportFileBytes + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
      const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return refused(errno);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    if (after_bytes_) after_bytes_();
    struct stat after {};
    if (fstat(file.get(), &after) != 0) return refused(errno);
    if (size > kMaxImportFileBytes || size != facts.size_bytes || !same_content(before, after))
      return Error{"changed while it was read: write another name and rename it", EBUSY};
    text.resize(size);
    return text;
  }

 private:
  std::string path_;
  std::function<void()> after_bytes_;
};

}  // namespace

std::string distrust(const FileFacts& facts, std::uint32_t own_user) {
  if (facts.owner != 0 && facts.owner != own_user)
    return "owned by neither root nor this daemon's user";
  if ((facts.mode & S_IWOTH) != 0) return "everybody may write to it (chmod o-w)";
  return {};
}

std::unique_ptr<ImportDirectory> open_import_directory(std::string path,
                                                       std::function<void()> after_bytes) {
  return std::make_unique<LiveImportDirectory>(std::move(path), std::move(after_bytes));
}

}  // namespace linkhealth
