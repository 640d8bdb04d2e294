#include "probes/sysroot.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <vector>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS

/// Puts the parts of `path` on top of `todo`, the first part last: `todo` is a stack.
void push_parts(std::string_view path, std::vector<std::string>& todo) {
  const auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (!part->empty() && *part != ".") todo.emplace_back(*part);
}

bool below_sys(std::string_view path) { return path == "/sys" || path.starts_with("/sys/"); }

Result<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const auto size = readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return errno_error(path, errno);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

/// 0: no part of the path is a symlink, so that it is canonical as it stands. ENOENT: it is not there. Anything else:
/// not known (an old kernel, a link). One call instead of one for each part, and most paths are of this kind.
int look_without_links(const std::string& disk) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const auto fd = static_cast<int>(syscall(SYS_openat2, AT_FDCWD, disk.c_str(), &how, sizeof how));
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

/// Without "." or ".." or an empty part.
bool is_plain_path(std::string_view path) {
  return path.find("/.") == std::string_view::npos && path.find("//") == std::string_view::npos && !path.ends_with('/');
}

}  // namespace

Sysroot::Sysroot(const std::string& directory) : root_(directory) {
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  struct stat status {};
  const bool has_class = stat((root_ + "/class").c_str(), &status) == 0;
  if (!has_class && stat((root_ + "/sys/class").c_str(), &status) == 0) root_ += "/sys";
}

Result<std::string> Sysroot::resolve(const std::string& path) const {
  if (!below_sys(path)) return Error{path + ": not in a copied /sys tree", ENOENT};
  if (is_plain_path(path)) {
    const int status = look_without_links(on_disk(path));
    if (status == 0) return path;
    if (status == ENOENT) return errno_error(path, ENOENT);
  }
  std::vector<std::string> todo;
  push_parts(std::string_view(path).substr(4), todo);
  std::string done = "/sys";
  int links = 0;
  while (!todo.empty()) {
    const std::string part = std::move(todo.back());
    todo.pop_back();
    if (part == "..") {
      if (done != "/sys") done.erase(done.rfind('/'));
      continue;
    }
    std::string next = done;
    next.append("/").append(part);
    struct stat status {};
    if (lstat(on_disk(next).c_str(), &status) != 0) return errno_error(path, errno);
    if (!S_ISLNK(status.st_mode)) {
      done = next;
      continue;
    }
    if (++links > kMaxLinks) return errno_error(path, ELOOP);
    auto target = read_link(on_disk(next));
    if (!target) return target.error();
    if (target->starts_with('/')) done = "/sys";
    push_parts(below_sys(*target) ? std::string_view(*target).substr(4) : std::string_view(*target), todo);
  }
  return done;
}

}  // namespace linkhealth
