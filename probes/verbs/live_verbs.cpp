#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>

#include "base/runtime_library.h"
#include "probes/verbs/verbs_events.h"

namespace linkhealth {

namespace {

struct Verbs {
  RuntimeLibrary library{"libibverbs.so.1"};
  LINKHEALTH_RUNTIME_FUNCTION(ibv_get_device_list);
  LINKHEALTH_RUNTIME_FUNCTION(ibv_free_device_list);
  LINKHEALTH_RUNTIME_FUNCTION(ibv_get_device_name);
  LINKHEALTH_RUNTIME_FUNCTION(ibv_open_device);
  LINKHEALTH_RUNTIME_FUNCTION(ibv_close_device);
  LINKHEALTH_RUNTIME_FUNCTION(ibv_get_async_event);
  LINKHEALTH_RUNTIME_FUNCTION(ibv_ack_async_event);
};
using Context = std::unique_ptr<ibv_context, decltype(Verbs::ibv_close_device)>;

/// The port of an event that has one (ibv_get_async_event(3)).
std::uint32_t port_of(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
      return static_cast<std::uint32_t>(event.element.port_num);
    default:
      return 0;
  }
}

class LiveContext final : public VerbsContext {
 public:
  LiveContext(const Verbs& verbs, Context context) : verbs_(verbs), context_(std::move(context)) {}
  [[nodiscard]] int fd() const override { return context_->async_fd; }

  Result<std::optional<VerbsEvent>> next() override {
    ibv_async_event event{};
    errno = 0;
    if (verbs_.ibv_get_async_event(context_.get(), &event) != 0) {
      if (errno == EAGAIN || errno == EINTR) return std::optional<VerbsEvent>();
      return errno_error("reading verbs events", errno == 0 ? EIO : errno);
    }
    const VerbsEvent read{event.event_type, port_of(event)};
    verbs_.ibv_ack_async_event(&event);
    return std::optional(read);
  }

 private:
  Verbs verbs_;
  Context context_;
};

class LiveVerbs final : public VerbsLibrary {
 public:
  Result<std::unique_ptr<VerbsContext>> open(const std::string& device) override {
    const Verbs verbs;
    if (const auto ready = verbs.library.ready(); !ready) return ready.error();
    int count = 0;
    const std::unique_ptr<ibv_device*, decltype(verbs.ibv_free_device_list)> list(
        verbs.ibv_get_device_list(&count), verbs.ibv_free_device_list);
    if (!list) return errno_error("listing verbs devices", errno);
    for (int i = 0; i < count; ++i)
      if (device == verbs.ibv_get_device_name(list.get()[i]))
        return open_device(verbs, list.get()[i]);
    // The library omits devices for which it has no provider.
    return Error{
        device + ": the verbs library does not know this device (install ibverbs-providers)",
        ENODEV};
  }

 private:
  static Result<std::unique_ptr<VerbsContext>> open_device(const Verbs& verbs, ibv_device* device) {
    errno = 0;
    Context context(verbs.ibv_open_device(device), verbs.ibv_close_device);
    const std::string file = "/dev/infiniband/" + std::string(device->dev_name);
    if (!context) return errno_error(file, errno == 0 ? EIO : errno);
    const int flags = fcntl(context->async_fd, F_GETFL);
    if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
      return errno_error(file, errno);
    return std::unique_ptr<VerbsContext>(std::make_unique<LiveContext>(verbs, std::move(context)));
  }
};

}  // namespace

std::shared_ptr<VerbsLibrary> live_verbs() { return std::make_shared<LiveVerbs>(); }

}  // namespace linkhealth
