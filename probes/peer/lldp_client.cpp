#include "probes/peer/lldp_client.h"

#include <lldpctl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/owned_fd.h"
#include "base/runtime_library.h"

namespace linkhealth {

namespace {

// Limits on the neighbours of one port and on all ports: a broken lldpd must not fill the memory.
constexpr std::size_t kMaxNeighbours = 64;
constexpr std::size_t kMaxInterfaces = 4096;

/// The functions of lldpd's control library that we use.
struct Lldpctl {
  RuntimeLibrary library{"liblldpctl.so.4"};
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_atom_dec_ref);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_atom_get);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_atom_get_str);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_atom_iter);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_atom_iter_next);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_atom_iter_value);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_get_interfaces);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_get_port);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_last_error);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_log_callback);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_new_name);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_release);
  LINKHEALTH_RUNTIME_FUNCTION(lldpctl_strerror);
};
using Connection = std::unique_ptr<lldpctl_conn_t, decltype(Lldpctl::lldpctl_release)>;
using Atom = std::unique_ptr<lldpctl_atom_t, decltype(Lldpctl::lldpctl_atom_dec_ref)>;

/// The socket below the library: never blocks beyond the deadline.
class BoundedSocket {
 public:
  BoundedSocket(Milliseconds patience, const Clock& clock)
      : clock_(clock), patience_(patience), deadline_(clock.steady() + patience) {}

  Result<void> connect(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return errno_error(path, ENAMETOOLONG);
    std::copy(path.begin(), path.end(), address.sun_path);
    fd_ = OwnedFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_) return errno_error(path, errno);
    // A Unix socket connects at once, or returns EAGAIN when too many connections wait for lldpd.
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return {};
    return errno_error(path, errno == EAGAIN ? ETIMEDOUT : errno);
  }

  static ssize_t send(lldpctl_conn_t* /*connection*/, const std::uint8_t* data, std::size_t length,
                      void* user) {
    auto& self = *static_cast<BoundedSocket*>(user);
    return self.transfer(POLLOUT,
                         [&] { return ::send(self.fd_.get(), data, length, MSG_NOSIGNAL); });
  }
  static ssize_t receive(lldpctl_conn_t* /*connection*/, const std::uint8_t* data,
                         std::size_t length, void* user) {
    auto& self = *static_cast<BoundedSocket*>(user);
    // The library declares its own buffer const.
    const ssize_t got = self.transfer(
        POLLIN, [&] { return ::recv(self.fd_.get(), const_cast<std::uint8_t*>(data), length, 0); });
    return got == 0 ? ssize_t{LLDPCTL_ERR_EOF} : got;
  }

  /// Why a callback gave up; 0: none did.
  [[nodiscard]] int errnum() const { return errnum_; }

 private:
  template <typename Transfer>
  ssize_t transfer(short events, Transfer once) {
    while (wait(events)) {
      const ssize_t size = once();
      if (size >= 0) return size;
      if (errno != EAGAIN && errno != EINTR) return failed(errno);
    }
    return LLDPCTL_ERR_CALLBACK_FAILURE;
  }
  bool wait(short events) {
    const Milliseconds left = std::min(patience_, deadline_ - clock_.steady());
    pollfd wanted{fd_.get(), events, 0};
    const int ready = left.count() <= 0 ? 0 : poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0 || (ready < 0 && errno == EINTR)) return true;
    failed(ready == 0 ? ETIMEDOUT : errno);
    return false;
  }
  ssize_t failed(int errnum) {
    errnum_ = errnum;
    return LLDPCTL_ERR_CALLBACK_FAILURE;
  }

  const Clock& clock_;
  Milliseconds patience_;
  SteadyTime deadline_;
  OwnedFd fd_;
  int errnum_ = 0;
};

/// The answer to one request, read atom by atom.
class Answer {
 public:
  Answer(const Lldpctl& lldpctl, lldpctl_conn_t* connection)
      : lldpctl_(lldpctl), connection_(connection) {}

  /// nullopt: an error of the connection.
  std::optional<std::vector<LldpInterface>> interfaces() const {
    const Atom list = owned(lldpctl_.lldpctl_get_interfaces(connection_));
    if (!list) return std::nullopt;
    std::vector<LldpInterface> found;
    bool whole = true;
    each(list.get(), [&](lldpctl_atom_t* item) {
      const Atom port = owned(lldpctl_.lldpctl_get_port(item));
      // A device may disappear between the two requests: that is not an error.
      whole = port != nullptr || lldpctl_.lldpctl_last_error(connection_) == LLDPCTL_ERR_NOT_EXIST;
      if (port)
        found.push_back({text_of(item, lldpctl_k_interface_name), neighbours_of(port.get())});
      return whole && found.size() < kMaxInterfaces;
    });
    return whole ? std::optional(std::move(found)) : std::nullopt;
  }

 private:
  [[nodiscard]] Atom owned(lldpctl_atom_t* atom) const {
    return {atom, lldpctl_.lldpctl_atom_dec_ref};
  }
  std::string text_of(lldpctl_atom_t* atom, lldpctl_key_t key) const {
    const char* text = atom != nullptr ? lldpctl_.lldpctl_atom_get_str(atom, key) : nullptr;
    return text != nullptr ? text : "";
  }
  /// The part `key` of an atom that may be missing.
  Atom part_of(lldpctl_atom_t* atom, lldpctl_key_t key) const {
    return owned(atom != nullptr ? lldpctl_.lldpctl_atom_get(atom, key) : nullptr);
  }
  /// Calls on_item with each atom of a list while it returns true.
  template <typename OnItem>
  void each(lldpctl_atom_t* list, OnItem on_item) const {
    if (list == nullptr) return;
    lldpctl_atom_iter_t* at = lldpctl_.lldpctl_atom_iter(list);
    for (; at != nullptr; at = lldpctl_.lldpctl_atom_iter_next(list, at)) {
      const Atom item = owned(lldpctl_.lldpctl_atom_iter_value(list, at));
      if (item && !on_item(item.get())) return;
    }
  }
  LldpNeighbour neighbour_of(lldpctl_atom_t* remote) const {
    LldpNeighbour neighbour;
    neighbour.protocol = text_of(remote, lldpctl_k_port_protocol);
    neighbour.port_id = text_of(remote, lldpctl_k_port_id);
    neighbour.port_id_subtype = text_of(remote, lldpctl_k_port_id_subtype);
    neighbour.port_description = text_of(remote, lldpctl_k_port_descr);
    const Atom chassis = part_of(remote, lldpctl_k_port_chassis);
    neighbour.chassis_name = text_of(chassis.get(), lldpctl_k_chassis_name);
    neighbour.chassis_id = text_of(chassis.get(), lldpctl_k_chassis_id);
    const Atom addresses = part_of(chassis.get(), lldpctl_k_chassis_mgmt);
    each(addresses.get(), [&](lldpctl_atom_t* address) {
      neighbour.management_address = text_of(address, lldpctl_k_mgmt_ip);
      return neighbour.management_address.empty();
    });
    return neighbour;
  }
  std::vector<LldpNeighbour> neighbours_of(lldpctl_atom_t* port) const {
    std::vector<LldpNeighbour> neighbours;
    const Atom list = part_of(port, lldpctl_k_port_neighbors);
    each(list.get(), [&](lldpctl_atom_t* remote) {
      neighbours.push_back(neighbour_of(remote));
      return neighbours.size() < kMaxNeighbours;
    });
    return neighbours;
  }

  const Lldpctl& lldpctl_;
  lldpctl_conn_t* connection_;
};

class LldpdClient final : public LldpClient {
 public:
  LldpdClient(std::string socket_path, Milliseconds patience, const Clock& clock)
      : socket_path_(std::move(socket_path)), patience_(patience), clock_(clock) {}

  Result<std::vector<LldpInterface>> interfaces() override {
    BoundedSocket socket(patience_, clock_);
    if (auto connected = socket.connect(socket_path_); !connected) return connected.error();
    // Loaded each time, so that installing the library later needs no restart.
    const Lldpctl lldpctl;
    if (const auto ready = lldpctl.library.ready(); !ready) return ready.error();
    // By default it writes to stderr.
    lldpctl.lldpctl_log_callback([](int /*severity*/, const char* /*text*/) {});
    const Connection connection(lldpctl.lldpctl_new_name(socket_path_.c_str(), &BoundedSocket::send,
                                                         &BoundedSocket::receive, &socket),
                                lldpctl.lldpctl_release);
    if (!connection) return errno_error(socket_path_, ENOMEM);
    if (auto found = Answer(lldpctl, connection.get()).interfaces()) return std::move(*found);
    if (socket.errnum() != 0) return errno_error(socket_path_, socket.errnum());
    const auto error = lldpctl.lldpctl_last_error(connection.get());
    return Error{socket_path_ + ": " + lldpctl.lldpctl_strerror(error), EPROTO};
  }

 private:
  std::string socket_path_;
  Milliseconds patience_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<LldpClient> make_lldpd_client(std::string socket_path, Milliseconds patience,
                                              const Clock& clock) {
  return std::make_unique<LldpdClient>(std::move(socket_path), patience, clock);
}

}  // namespace linkhealth
