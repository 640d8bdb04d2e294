#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <type_traits>

#include "probes/verbs_device.h"

namespace linkhealth {

VerbsEventKind verbs_event_kind(int type) {
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

namespace {

/// The library's functions, looked up when the first device is opened: with libnl, which it brings,
/// it takes 0.6 MB of memory, of no use on a node without RDMA devices.
struct Functions {
  decltype(&ibv_get_device_list) get_device_list = nullptr;
  decltype(&ibv_free_device_list) free_device_list = nullptr;
  decltype(&ibv_get_device_name) get_device_name = nullptr;
  decltype(&ibv_open_device) open_device = nullptr;
  decltype(&ibv_close_device) close_device = nullptr;
  decltype(&ibv_get_async_event) get_async_event = nullptr;
  decltype(&ibv_ack_async_event) ack_async_event = nullptr;
};

Result<Functions> load_functions() {
  void* const library =
      dlopen("libibverbs.so.1", RTLD_NOW);  // stays loaded: devices' drivers come with it
  if (library == nullptr) return Error{"no verbs library (install libibverbs1)", ENOENT};
  Functions found;
  bool all = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    all = all && function != nullptr;
  };
  find(found.get_device_list, "ibv_get_device_list");
  find(found.free_device_list, "ibv_free_device_list");
  find(found.get_device_name, "ibv_get_device_name");
  find(found.open_device, "ibv_open_device");
  find(found.close_device, "ibv_close_device");
  find(found.get_async_event, "ibv_get_async_event");
  find(found.ack_async_event, "ibv_ack_async_event");
  if (!all) return Error{"libibverbs.so.1 lacks a function", ENOSYS};
  return found;
}

struct CloseDevice {
  decltype(&ibv_close_device) close;
  void operator()(ibv_context* context) const { close(context); }
};
struct FreeList {
  decltype(&ibv_free_device_list) free;
  void operator()(ibv_device** list) const { free(list); }
};

class LiveContext final : public VerbsContext {
 public:
  LiveContext(const Functions& functions, std::unique_ptr<ibv_context, CloseDevice> context)
      : functions_(functions), context_(std::move(context)) {}
  [[nodiscard]] int fd() const override { return context_->async_fd; }

  Result<std::optional<VerbsEvent>> next() override {
    ibv_async_event event{};
    errno = 0;
    if (functions_.get_async_event(context_.get(), &event) != 0) {
      if (errno == EAGAIN || errno == EINTR) return std::optional<VerbsEvent>();
      return errno_error("reading verbs events", errno == 0 ? EIO : errno);
    }
    const VerbsEventKind kind = verbs_event_kind(event.event_type);
    VerbsEvent told{kind, 0};
    if (kind != VerbsEventKind::kOther && kind != VerbsEventKind::kDeviceFatal)
      told.port = static_cast<std::uint32_t>(event.element.port_num);
    functions_.ack_async_event(&event);
    return std::optional(told);
  }

 private:
  Functions functions_;
  std::unique_ptr<ibv_context, CloseDevice> context_;
};

class LiveVerbs final : public VerbsLibrary {
 public:
  Result<std::unique_ptr<VerbsContext>> open(const std::string& device) override {
    if (!functions_) {
      auto loaded = load_functions();
      if (!loaded) return loaded.error();
      functions_ = *loaded;
    }
    int count = 0;
    const std::unique_ptr<ibv_device*, FreeList> list(functions_->get_device_list(&count),
                                                      FreeList{functions_->free_device_list});
    if (!list) return errno_error("listing verbs devices", errno);
    for (int i = 0; i < count; ++i) {
      ibv_device* candidate = list.get()[i];
      if (device != functions_->get_device_name(candidate)) continue;
      errno = 0;
      std::unique_ptr<ibv_context, CloseDevice> context(functions_->open_device(candidate),
                                                        CloseDevice{functions_->close_device});
      if (!context)
        return errno_error("/dev/infiniband/" + std::string(candidate->dev_name),
                           errno == 0 ? EIO : errno);
      const int flags = fcntl(context->async_fd, F_GETFL);
      if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return errno_error("verbs events of " + device, errno);
      return std::unique_ptr<VerbsContext>(
          std::make_unique<LiveContext>(*functions_, std::move(context)));
    }
    // The library leaves out what it has no provider for.
    return Error{
        device + ": the verbs library does not know this device (install ibverbs-providers)",
        ENODEV};
  }

 private:
  std::optional<Functions> functions_;
};

}  // namespace

std::shared_ptr<VerbsLibrary> live_verbs() { return std::make_shared<LiveVerbs>(); }

}  // namespace linkhealth
