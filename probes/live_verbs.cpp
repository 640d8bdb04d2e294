#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>

#include "probes/verbs_device.h"

namespace linkhealth {

namespace {

VerbsEventKind kind_of(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_PORT_ERR:
      return VerbsEventKind::kPortError;
    case IBV_EVENT_PORT_ACTIVE:
      return VerbsEventKind::kPortActive;
    case IBV_EVENT_DEVICE_FATAL:
      return VerbsEventKind::kDeviceFatal;
    case IBV_EVENT_LID_CHANGE:
      return VerbsEventKind::kLidChange;
    case IBV_EVENT_SM_CHANGE:
      return VerbsEventKind::kSmChange;
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
      return VerbsEventKind::kPortChanged;
    default:
      return VerbsEventKind::kOther;
  }
}

struct CloseDevice {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};

class LiveContext final : public VerbsContext {
 public:
  explicit LiveContext(std::unique_ptr<ibv_context, CloseDevice> context) : context_(std::move(context)) {}
  [[nodiscard]] int fd() const override { return context_->async_fd; }

  Result<std::optional<VerbsEvent>> next() override {
    ibv_async_event event{};
    errno = 0;
    if (ibv_get_async_event(context_.get(), &event) != 0) {
      if (errno == EAGAIN || errno == EINTR) return std::optional<VerbsEvent>();
      return errno_error("reading verbs events", errno == 0 ? EIO : errno);
    }
    const VerbsEventKind kind = kind_of(event.event_type);
    VerbsEvent told{kind, 0};
    if (kind != VerbsEventKind::kOther && kind != VerbsEventKind::kDeviceFatal)
      told.port = static_cast<std::uint32_t>(event.element.port_num);
    ibv_ack_async_event(&event);
    return std::optional(told);
  }

 private:
  std::unique_ptr<ibv_context, CloseDevice> context_;
};

class LiveVerbs final : public VerbsLibrary {
 public:
  Result<std::unique_ptr<VerbsContext>> open(const std::string& device) override {
    int count = 0;
    const std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
    if (!list) return errno_error("listing verbs devices", errno);
    for (int i = 0; i < count; ++i) {
      ibv_device* candidate = list.get()[i];
      if (device != ibv_get_device_name(candidate)) continue;
      errno = 0;
      std::unique_ptr<ibv_context, CloseDevice> context(ibv_open_device(candidate));
      if (!context) return errno_error("/dev/infiniband/" + std::string(candidate->dev_name), errno == 0 ? EIO : errno);
      const int flags = fcntl(context->async_fd, F_GETFL);
      if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return errno_error("verbs events of " + device, errno);
      return std::unique_ptr<VerbsContext>(std::make_unique<LiveContext>(std::move(context)));
    }
    // The library leaves out what it has no provider for.
    return Error{device + ": the verbs library does not know this device (install ibverbs-providers)", ENODEV};
  }
};

}  // namespace

std::shared_ptr<VerbsLibrary> live_verbs() { return std::make_shared<LiveVerbs>(); }

}  // namespace linkhealth
