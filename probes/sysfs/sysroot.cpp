#include "probes/sysfs/sysroot.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

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

/// The descriptor when no part of the path is a symlink: it is canonical as it stands. Otherwise
/// the errno. ENOENT: it is not there. ELOOP or ENOSYS: not known (a link, an old kernel). One call
/// instead of one for each part, and most paths are of this kind.
Result<OwnedFd> open_without_links(const std::string& disk, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_NO_SYMLINKS;
  OwnedFd fd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, disk.c_str(), &how, sizeof how)));
  if (!fd) return errno_error(disk, errno);
  return fd;
}

/// Without "." or ".." or an empty part.
bool is_plain_path(std::string_view path) {
  return path.find("/.") == std::string_view::npos && path.find("//") == std::string_view::npos &&
         !path.ends_with('/');
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
  std::vector<std::string> todo;
  push_parts(std::string_view(path).substr(4), todo);
  std::string done = "/sys";
  int links = 0;
  bool looked_ahead = false;  // since the last link
  while (!todo.empty()) {
    if (todo.back() == "..") {
      todo.pop_back();
      if (done != "/sys") done.erase(done.rfind('/'));
      continue;
    }
    if (!std::exchange(looked_ahead, true)) {
      const auto plain = look_ahead(done, todo);
      if (!plain) return errno_error(path, plain.error().errnum);
      for (std::size_t i = 0; i < *plain; ++i, todo.pop_back())
        done.append("/").append(todo.back());
      continue;
    }
    std::string next = done + "/" + todo.back();
    todo.pop_back();
    struct stat status {};
    if (lstat(on_disk(next).c_str(), &status) != 0) return errno_error(path, errno);
    if (!S_ISLNK(status.st_mode)) {
      done = std::move(next);
      continue;
    }
    if (++links > kMaxLinks) return errno_error(path, ELOOP);
    auto target = read_link(on_disk(next));
    if (!target) return target.error();
    if (target->starts_with('/')) done = "/sys";
    push_parts(below_sys(*target) ? std::string_view(*target).substr(4) : std::string_view(*target),
               todo);
    looked_ahead = false;
  }
  return done;
}

/// One call tells that no part of a path is a link, and most links are a path's last part.
Result<std::size_t> Sysroot::look_ahead(const std::string& done,
                                        const std::vector<std::string>& todo) const {
  if (std::find(todo.begin(), todo.end(), "..") != todo.end()) return std::size_t{0};
  std::string parent = done;
  for (std::size_t left = todo.size() - 1; left > 0; --left) parent.append("/").append(todo[left]);
  const auto whole = open_without_links(on_disk(parent + "/" + todo.front()), O_PATH);
  if (whole) return todo.size();
  if (whole.error().errnum == ENOENT) return whole.error();
  return todo.size() > 1 && open_without_links(on_disk(parent), O_PATH) ? todo.size() - 1 : 0;
}

Result<OwnedFd> Sysroot::open(const std::string& path, int flags) const {
  if (below_sys(path) && is_plain_path(path)) {
    auto fd = open_without_links(on_disk(path), flags | O_NOATIME);
    if (!fd && fd.error().errnum == EPERM)
      fd = open_without_links(on_disk(path), flags);  // not our file
    if (fd) return fd;
    if (fd.error().errnum == ENOENT) return errno_error(path, ENOENT);
  }
  const auto canonical = resolve(path);
  if (!canonical) return canonical.error();
  const std::string disk = on_disk(*canonical);
  OwnedFd fd(::open(disk.c_str(), flags | O_CLOEXEC | O_NOATIME));
  if (!fd && errno == EPERM) fd = OwnedFd(::open(disk.c_str(), flags | O_CLOEXEC));
  if (!fd) return errno_error(path, errno);
  return fd;
}

}  // namespace linkhealth
