#include "probes/peer/mad_port.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/runtime_library.h"

namespace linkhealth {
namespace {

/// Lets the kernel wake us after its own last timeout.
constexpr Milliseconds kSlack{100};
/// Limit of late answers dropped for one request: they are there at once or not at all.
constexpr int kMostStrays = 16;
/// Larger than any InfiniBand MAD, so that a longer one is noticed.
constexpr std::size_t kReceiveSize = 2048;

struct Umad {
  RuntimeLibrary library{"libibumad.so.3"};
  LINKHEALTH_RUNTIME_FUNCTION(umad_close_port);
  LINKHEALTH_RUNTIME_FUNCTION(umad_get_issm_path);
  LINKHEALTH_RUNTIME_FUNCTION(umad_get_mad);
  LINKHEALTH_RUNTIME_FUNCTION(umad_open_port);
  LINKHEALTH_RUNTIME_FUNCTION(umad_recv);
  LINKHEALTH_RUNTIME_FUNCTION(umad_register);
  LINKHEALTH_RUNTIME_FUNCTION(umad_send);
  LINKHEALTH_RUNTIME_FUNCTION(umad_set_addr);
  LINKHEALTH_RUNTIME_FUNCTION(umad_size);
  LINKHEALTH_RUNTIME_FUNCTION(umad_status);
  LINKHEALTH_RUNTIME_FUNCTION(umad_unregister);
};

/// Without ib_umad, libibumad writes its own warning to stderr at each try, so it is not called.
bool has_ib_umad() {
  const int fd = open("/sys/class/infiniband_mad/abi_version",
                      O_RDONLY | O_CLOEXEC);  // open(), because ibsim does not intercept access()
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/// libibumad sets errno (which we clear before), or only returns -errno; -EIO stands for any.
int errnum_of(int answer) { return errno != 0 ? errno : -answer; }

/// "/dev/infiniband/umad0". The library gives the name of the issm file only.
std::string device_file(const Umad& umad, const std::string& device, int port) {
  std::array<char, 256> path{};
  if (umad.umad_get_issm_path(device.c_str(), port, path.data(), static_cast<int>(path.size())) < 0)
    return "";
  std::string name(path.data(), strnlen(path.data(), path.size()));
  const std::size_t at = name.rfind("issm");
  return at != std::string::npos ? name.replace(at, 4, "umad") : "";
}

Error no_interface(const std::string& device, int port) {
  return {fmt::format("the kernel offers no management interface for {} port {}: load ib_umad",
                      device, port),
          ENODEV};
}

Error open_error(const Umad& umad, const std::string& device, int port, int errnum) {
  const std::string file = device_file(umad, device, port);
  if (!file.empty() && (errnum == EACCES || errnum == EPERM))
    return {fmt::format(
                "no access to {}: {}; run as root, or give the daemon's user access to this file",
                file, std::strerror(errnum)),
            EACCES};
  if (!file.empty() && errnum == ENOENT)
    return {fmt::format("{} is missing: pass it into the container", file), ENODEV};
  if (!file.empty() && errnum != EINVAL && errnum != ENODEV && errnum != EIO &&
      errnum != EOPNOTSUPP)
    return errno_error(fmt::format("cannot open {}", file), errnum);
  return no_interface(device, port);
}

class UmadPort final : public MadPort {
 public:
  UmadPort(const Umad& umad, int id)
      : umad_(umad),
        id_(id),
        buffer_((umad.umad_size() + kReceiveSize) / sizeof(std::uint64_t) + 1) {}
  UmadPort(const UmadPort&) = delete;
  UmadPort& operator=(const UmadPort&) = delete;
  ~UmadPort() override {
    for (const int agent : {directed_, perf_})
      if (agent >= 0) umad_.umad_unregister(id_, agent);
    umad_.umad_close_port(id_);
  }

  Result<void> register_agents() {
    errno = 0;
    directed_ = umad_.umad_register(id_, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, nullptr);
    if (directed_ < 0)
      return errno_error("cannot register for directed routes", errnum_of(directed_));
    perf_ = umad_.umad_register(id_, UMAD_CLASS_PERF_MGMT, 1, 0, nullptr);
    if (perf_ < 0) return errno_error("cannot register for performance agents", errnum_of(perf_));
    return {};
  }

  Result<std::vector<std::uint8_t>> exchange(std::uint16_t lid, const Mad& request,
                                             Milliseconds timeout, int tries) override {
    const bool directed = request[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
    std::ranges::fill(buffer_, 0);
    errno = 0;
    // The management queue pairs and their key are fixed by the specification (IBA 3.9.2, 10.2.5).
    const int set =
        directed ? umad_.umad_set_addr(buffer_.data(), 0xffff, 0, 0, 0)
                 : umad_.umad_set_addr(buffer_.data(), lid, 1, 0, static_cast<int>(UMAD_QKEY));
    if (set < 0) return errno_error("cannot address the far end", errnum_of(set));
    std::memcpy(umad_.umad_get_mad(buffer_.data()), request.data(), request.size());
    const int sent = umad_.umad_send(id_, directed ? directed_ : perf_, buffer_.data(),
                                     static_cast<int>(request.size()),
                                     static_cast<int>(timeout.count()), tries - 1);
    if (sent < 0) return errno_error("cannot send", errnum_of(sent));
    return receive(request, timeout * tries + kSlack);
  }

 private:
  Result<std::vector<std::uint8_t>> receive(const Mad& request, Milliseconds longest) {
    for (int i = 0; i < kMostStrays; ++i) {
      int length = static_cast<int>(kReceiveSize);
      errno = 0;
      const int agent =
          umad_.umad_recv(id_, buffer_.data(), &length, static_cast<int>(longest.count()));
      if (agent < 0)
        return errno_error("no answer", errno == EWOULDBLOCK ? ETIMEDOUT : errnum_of(agent));
      const auto* bytes = static_cast<const std::uint8_t*>(umad_.umad_get_mad(buffer_.data()));
      const auto size =
          static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(kReceiveSize)));
      const std::span<const std::uint8_t> answer(bytes, size);
      if (!same_transaction(request, answer)) continue;
      // An unanswered request is returned itself, with the reason.
      if (const int status = umad_.umad_status(buffer_.data()); status != 0)
        return errno_error("no answer", status);
      return std::vector<std::uint8_t>(answer.begin(), answer.end());
    }
    return errno_error("no answer among many to other requests", ETIMEDOUT);
  }

  Umad umad_;
  int id_;
  int directed_ = -1;
  int perf_ = -1;
  std::vector<std::uint64_t> buffer_;  // aligned for the header
};

}  // namespace

Result<std::unique_ptr<MadPort>> open_umad_port(const std::string& device, std::uint32_t port) {
  const int number = static_cast<int>(port);
  if (device.size() >= UMAD_CA_NAME_LEN)
    return errno_error("a device name this long: " + device, EINVAL);
  if (!has_ib_umad()) return no_interface(device, number);
  const Umad umad;
  if (const auto ready = umad.library.ready(); !ready) return ready.error();
  errno = 0;
  const int id = umad.umad_open_port(device.c_str(), number);
  // errno is read at once: -EIO stands for any error of open().
  const int errnum = id == -EIO && errno != 0 ? errno : -id;
  if (id < 0) return open_error(umad, device, number, errnum);
  auto opened = std::make_unique<UmadPort>(umad, id);
  if (const auto registered = opened->register_agents(); !registered) return registered.error();
  return std::unique_ptr<MadPort>(std::move(opened));
}

}  // namespace linkhealth
