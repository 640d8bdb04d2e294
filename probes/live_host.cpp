#include "probes/live_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace linkhealth {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} * 1024;
const char* const kNoKernel = "not in a copied /sys tree";

Result<std::size_t> read_at(int fd, std::span<char> buffer, std::size_t offset) {
  for (;;) {
    const auto size = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) return errno_error("read", errno);
  }
}

constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<OwnedFd> regular(Result<OwnedFd> fd, const std::string& path) {
  if (!fd) return fd;
  struct stat status {};
  if (fstat(fd->get(), &status) != 0) return errno_error(path, errno);
  if (S_ISDIR(status.st_mode)) return errno_error(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return Error{path + ": not a regular file", EINVAL};
  return fd;
}

Result<OwnedFd> open_path(const std::string& path, int flags) {
  OwnedFd fd(open(path.c_str(), flags));
  if (!fd) return errno_error(path, errno);
  return fd;
}

/// The whole file, from the beginning. sysfs gives a page at once, and a second read would evaluate
/// the attribute (a firmware command) again; /proc gives pieces.
Result<std::string> read_whole(const Result<OwnedFd>& fd, const std::string& path, bool one_read) {
  if (!fd) return fd.error();
  std::string content;
  std::size_t used = 0;
  for (;;) {
    content.resize(std::min(kMaxFileBytes + 1, std::max<std::size_t>(4096, used * 2)));
    auto size = read_at(fd->get(), std::span(content).subspan(used), used);
    if (!size) return errno_error(path, size.error().errnum);
    used += *size;
    if (*size == 0 || (one_read && used < content.size())) break;
    if (used > kMaxFileBytes) return Error{path + ": larger than 64 KiB", EFBIG};
  }
  content.resize(used);
  return content;
}

class LiveDir final : public HostDir {
 public:
  LiveDir(OwnedFd fd, bool one_read) : fd_(std::move(fd)), one_read_(one_read) {}
  Result<std::string> read_file(const std::string& name) override {
    OwnedFd file(openat(fd_.get(), name.c_str(), kReadFlags));
    if (!file) return errno_error(name, errno);
    return read_whole(regular(std::move(file), name), name, one_read_);
  }

 private:
  OwnedFd fd_;
  bool one_read_;
};

/// A directory of a copied tree: its links must not lead out of the tree.
class CopiedDir final : public HostDir {
 public:
  CopiedDir(LiveHost& host, std::string path) : host_(host), path_(std::move(path)) {}
  Result<std::string> read_file(const std::string& name) override {
    return host_.read_file(path_ + "/" + name);
  }

 private:
  LiveHost& host_;
  std::string path_;
};

/// Returns one record per read (linux: kernel/printk/printk.c, devkmsg_read).
class LiveRecords final : public HostEvents {
 public:
  explicit LiveRecords(OwnedFd fd) : fd_(std::move(fd)) {}
  [[nodiscard]] int fd() const override { return fd_.get(); }

  Result<std::vector<Bytes>> receive() override {
    while (pending_.size() < kAtOnce) {
      const auto size = ::read(fd_.get(), buffer_.data(), buffer_.size());
      if (size < 0 && errno == EINTR) continue;
      if (size == 0 || (size < 0 && errno == EAGAIN)) break;
      // what was read so far stays for the next call.
      if (size < 0) return errno_error("read", errno);
      pending_.emplace_back(buffer_.begin(), buffer_.begin() + size);
    }
    return std::exchange(pending_, {});
  }

 private:
  OwnedFd fd_;
  // A record has at most 8 KiB; a buffer that is too small gives EINVAL.
  std::vector<std::byte> buffer_ = std::vector<std::byte>(16'384);
  std::vector<Bytes> pending_;
};

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

}  // namespace

LiveHost::LiveHost(const std::string& sysroot) {
  if (!sysroot.empty()) sysroot_.emplace(sysroot);
}

Result<OwnedFd> LiveHost::open_for_reading(const std::string& path, int more_flags) const {
  const int flags = kReadFlags | more_flags;
  return sysroot_ ? sysroot_->open(path, flags) : open_path(path, flags);
}

Result<std::string> LiveHost::read_file(const std::string& path) {
  return read_whole(regular(open_for_reading(path), path), path, path.starts_with("/sys/"));
}

Result<std::unique_ptr<HostDir>> LiveHost::open_dir(const std::string& path) {
  auto fd = open_for_reading(path, O_DIRECTORY);
  if (!fd) return fd.error();
  if (sysroot_) return std::unique_ptr<HostDir>(std::make_unique<CopiedDir>(*this, path));
  return std::unique_ptr<HostDir>(
      std::make_unique<LiveDir>(std::move(*fd), path.starts_with("/sys/")));
}

Result<std::vector<std::string>> LiveHost::list_dir(const std::string& path) {
  auto fd = open_for_reading(path, O_DIRECTORY);
  if (!fd) return fd.error();
  const std::unique_ptr<DIR, CloseDir> dir(fdopendir(fd->get()));
  if (!dir) return errno_error(path, errno);
  fd->release();  // now owned by the directory
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(dir.get());  // readdir() is safe here: one DIR, one thread
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return errno_error(path, errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> LiveHost::resolve(const std::string& path) {
  if (sysroot_) return sysroot_->resolve(path);
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return errno_error(path, errno);
  return std::string(real.get());
}

Result<std::vector<Bytes>> LiveHost::netlink(int protocol, std::span<const std::byte> request) {
  if (sysroot_) return Error{kNoKernel, EOPNOTSUPP};
  auto& kept = sockets_[protocol];
  if (!kept) {
    auto opened = KernelSocket::open(protocol);
    if (!opened) return opened.error();
    kept = std::move(*opened);
  }
  auto answers = kept->request(request);
  if (!kept->usable()) kept.reset();
  return answers;
}

Result<std::unique_ptr<HostEvents>> LiveHost::listen(int protocol,
                                                     std::span<const std::uint32_t> groups) {
  if (sysroot_) return Error{kNoKernel, EOPNOTSUPP};
  return open_kernel_events(protocol, groups);
}

namespace {

/// The kernel log as passed by systemd (StandardInput=file:/dev/kmsg): opened by root, so that the
/// daemon needs no permission of its own. Its file position is shared, so it is reset to the
/// beginning.
Result<OwnedFd> kernel_log_of_the_unit() {
  struct stat status {};
  // linux: Documentation/admin-guide/devices.txt, 1 char, 11
  if (fstat(STDIN_FILENO, &status) != 0 || !S_ISCHR(status.st_mode) ||
      status.st_rdev != makedev(1, 11))
    return errno_error("standard input", ENODEV);
  OwnedFd fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!fd || lseek(fd.get(), 0, SEEK_SET) < 0 || fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0)
    return errno_error("standard input", errno);
  return fd;
}

}  // namespace

Result<std::unique_ptr<HostEvents>> LiveHost::open_records(const std::string& path) {
  if (sysroot_) return Error{kNoKernel, EOPNOTSUPP};
  auto fd = path == "/dev/kmsg" ? kernel_log_of_the_unit() : errno_error(path, ENODEV);
  if (!fd) fd = open_path(path, kReadFlags);
  if (!fd) return fd.error();
  struct stat status {};
  if (fstat(fd->get(), &status) != 0) return errno_error(path, errno);
  // Tests use a FIFO as the device. A plain file would never become readable.
  if (!S_ISCHR(status.st_mode) && !S_ISFIFO(status.st_mode))
    return Error{path + ": not a device", EINVAL};
  return std::unique_ptr<HostEvents>(std::make_unique<LiveRecords>(*std::move(fd)));
}

namespace {

/// Memory in front of a protected page. ETHTOOL_GSTATS and ETHTOOL_GSTRINGS write as much as the
/// driver has now, not as much as was requested (linux: net/ethtool/ioctl.c): they fail at the page
/// instead of overwriting our memory.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t used = (size + page - 1) / page * page;
    void* const base =
        mmap(nullptr, used + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(base);
    mapped_ = used + page;
    if (mprotect(base_ + used, page, PROT_NONE) == 0) data_ = {base_ + used - size, size};
  }
  ~GuardedMemory() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  /// Empty when there was no memory.
  [[nodiscard]] std::span<std::byte> data() const { return data_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::span<std::byte> data_;
};

}  // namespace

Result<bool> LiveHost::ethtool(const std::string& netdev, std::span<std::byte> command) {
  if (sysroot_) return Error{kNoKernel, EOPNOTSUPP};
  if (netdev.empty() || netdev.size() >= IFNAMSIZ)
    return Error{"no netdev name: " + netdev, ENODEV};
  if (!ioctl_socket_) ioctl_socket_ = OwnedFd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!ioctl_socket_) return errno_error("socket", errno);
  const GuardedMemory memory(command.size());
  if (memory.data().empty()) return errno_error("mmap", ENOMEM);
  std::copy(command.begin(), command.end(), memory.data().begin());
  ifreq request{};
  std::copy(netdev.begin(), netdev.end(), std::begin(request.ifr_name));
  request.ifr_data = reinterpret_cast<char*>(
      memory.data().data());  // NOLINT(*-reinterpret-cast): the kernel's ABI
  if (ioctl(ioctl_socket_.get(), SIOCETHTOOL, &request) != 0)
    return errno_error("ethtool ioctl " + netdev, errno);
  std::copy(memory.data().begin(), memory.data().end(), command.begin());
  return true;
}

void allow_many_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  constexpr rlim_t kEnough = 65'536;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough));
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace linkhealth
