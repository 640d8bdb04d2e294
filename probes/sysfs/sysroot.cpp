#include "probes/sysfs/sysroot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr int kMaxLinks = 40;  // same as the kernel's MAXSYMLINKS

/// Pushes the components of `path` onto the stack `todo`, so that the first one is on top.
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

bool has_class(const std::string& sys) {
  struct stat status {};
  return stat((sys + "/class").c_str(), &status) == 0;
}

/// Opens `relative` below `root` in one system call (since 5.6), which refuses links that lead out
/// of the root and, with EXDEV, absolute ones. On failure returns an invalid descriptor and sets
/// errno.
OwnedFd open_beneath(const std::string& root, const std::string& relative, int flags) {
  const OwnedFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return OwnedFd();
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(
      static_cast<int>(syscall(__NR_openat2, directory.get(), relative.c_str(), &how, sizeof how)));
}

}  // namespace

Sysroot::Sysroot(const std::string& directory) : root_(directory) {
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  if (!has_class(root_) && has_class(root_ + "/sys")) root_.append("/sys");
}

Result<std::string> Sysroot::resolve(const std::string& path) const {
  if (!below_sys(path)) return Error{path + ": not in a copied /sys tree", ENOENT};
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
    std::string next = fmt::format("{}/{}", done, part);
    struct stat status {};
    if (lstat(on_disk(next).c_str(), &status) != 0) return errno_error(path, errno);
    if (!S_ISLNK(status.st_mode)) {
      done = std::move(next);
      continue;
    }
    if (++links > kMaxLinks) return errno_error(path, ELOOP);
    const auto target = read_link(on_disk(next));
    if (!target) return target.error();
    if (target->starts_with('/')) done = "/sys";
    push_parts(below_sys(*target) ? std::string_view(*target).substr(4) : std::string_view(*target),
               todo);
  }
  return done;
}

Result<OwnedFd> Sysroot::open(const std::string& path, int flags) const {
  if (below_sys(path)) {  // sysfs has relative links: this nearly always succeeds
    if (auto fd = open_beneath(root_, "." + path.substr(4), flags | O_CLOEXEC | O_NOATIME))
      return fd;
    if (errno == ENOENT) return errno_error(path, ENOENT);
  }
  const auto canonical = resolve(path);
  if (!canonical) return canonical.error();
  const std::string disk = on_disk(*canonical);
  OwnedFd fd(::open(disk.c_str(), flags | O_CLOEXEC | O_NOATIME));
  // O_NOATIME is not allowed: the file is another user's.
  if (!fd && errno == EPERM) fd = OwnedFd(::open(disk.c_str(), flags | O_CLOEXEC));
  if (!fd) return errno_error(path, errno);
  return fd;
}

}  // namespace linkhealth
