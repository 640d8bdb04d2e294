#include "storage/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "storage/byte_source.h"

namespace linkhealth {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Result<void> write_and_sync(const std::string& path, std::string_view bytes) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  if (file.get() < 0) return errno_error(path, errno);
  while (!bytes.empty()) {
    const ssize_t put = write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (fsync(file.get()) != 0) return errno_error(path, errno);
  return {};
}

/// The rename itself is on disk only when the directory is.
Result<void> sync_directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder(
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)));
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || fsync(directory.get()) != 0) return errno_error(folder, errno);
  return {};
}

}  // namespace

Result<std::optional<std::string>> StateFile::read() const {
  auto source = open_byte_source(path_);
  if (!source && source.error().errnum == ENOENT) return std::optional<std::string>();
  if (!source) return source.error();
  std::string bytes;
  std::array<char, 65536> chunk{};
  for (;;) {
    auto got = (*source)->read(chunk);
    if (!got) return Error{path_ + ": " + got.error().message, got.error().errnum};
    if (*got == 0) return std::optional(std::move(bytes));
    bytes.append(chunk.data(), *got);
    if (bytes.size() > kMaxBytes)
      return Error{fmt::format("{}: more than {} bytes", path_, kMaxBytes)};
  }
}

Result<void> StateFile::replace(std::string_view bytes) const {
  const std::string temporary = path_ + ".tmp";
  if (auto written = write_and_sync(temporary, bytes); !written) return written;
  if (std::rename(temporary.c_str(), path_.c_str()) != 0) return errno_error(path_, errno);
  return sync_directory_of(path_);
}

std::string StateFile::set_aside(std::string_view why) const {
  const std::string kept = path_ + ".damaged";
  if (std::rename(path_.c_str(), kept.c_str()) != 0)
    return fmt::format("{}: {}; it could not be set aside: {}", path_, why,
                       errno_error(kept, errno).message);
  return fmt::format("{}: {}; kept as {}", path_, why, kept);
}

}  // namespace linkhealth
