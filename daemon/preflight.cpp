#include "daemon/preflight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

#include "base/text.h"
#include "daemon/http/peer_credentials.h"
#include "probes/live_host.h"

namespace linkhealth {

namespace fs = std::filesystem;

namespace {

Result<void> check_group(std::string_view key, const std::string& name) {
  if (name.empty()) return {};
  const auto found = group_id(name);
  return found ? Result<void>() : Error{fmt::format("{}: {}", key, found.error().message)};
}

/// The state directory may be missing: the start creates it.
Result<void> check_record(const std::string& path, const std::string& state_directory) {
  const fs::path directory = fs::path(path).parent_path();
  std::error_code error;
  if (directory.empty() || directory == fs::path(state_directory) ||
      fs::is_directory(directory, error))
    return {};
  return Error{fmt::format("record: {}: directory {} does not exist", path, directory.string())};
}

std::string first_line_of(Host& host, const std::string& path) {
  const auto text = host.read_file(path);
  return text ? std::string(trim(*text)) : "";
}

}  // namespace

RecordingHeader this_nodes_header(const Config& config, const Clock& clock) {
  LiveHost host;
  RecordingHeader header;
  header.node =
      config.node.empty() ? first_line_of(host, "/proc/sys/kernel/hostname") : config.node;
  header.boot_id = first_line_of(host, "/proc/sys/kernel/random/boot_id");
  header.at = clock.wall();
  header.version = LINKHEALTH_VERSION;
  header.expected = with_plan(config);
  return header;
}

std::string state_directory(const Config& config, const DaemonOptions& options) {
  const bool of_this_node = options.play_file.empty() && options.sysroot.empty();
  return of_this_node || options.state_dir ? config.state_dir : "";
}

bool watches_this_node(const DaemonOptions& options) {
  return options.play_file.empty() && (options.sysroot.empty() || options.state_dir);
}

Result<void> check_sysroot(const std::string& directory) {
  std::error_code error;
  for (const char* name : {"sys", "class", "bus", "devices"})
    if (fs::exists(fs::path(directory) / name, error)) return {};
  return Error{directory + ": not a copy of /sys: it has neither sys nor class"};
}

Result<void> check_start(const Config& config, const DaemonOptions& options) {
  if (!options.sysroot.empty())
    if (auto copy = check_sysroot(options.sysroot); !copy) return copy;
  if (auto good = check_group("control_group", config.control_group); !good) return good;
  if (auto good = check_group("socket_group", config.socket_group); !good) return good;
  if (auto good =
          check_record(options.record_file.empty() ? config.record_path : options.record_file,
                       state_directory(config, options));
      !good)
    return good;
  return {};
}

Result<OwnedFd> lock_state_directory(const std::string& directory) {
  if (directory.empty()) return OwnedFd();
  OwnedFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno_error("can't open " + directory, errno);
  // A file system without locks, such as some network file systems: no worse than without the lock.
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{"another linkhealthd keeps its state in " + directory +
                 " (--state-dir names another place)"};
  return fd;
}

Result<void> make_directories(const std::string& state_directory, const std::string& socket_path) {
  for (const fs::path& directory :
       {fs::path(state_directory), fs::path(socket_path).parent_path()}) {
    std::error_code error;
    if (!directory.empty()) fs::create_directories(directory, error);
    if (error)
      return Error{
          fmt::format("cannot create {}: {} (--state-dir and --socket choose other places)",
                      directory.string(), error.message())};
  }
  return {};
}

}  // namespace linkhealth
