// The seam to the verbs library: a device's context and the asynchronous events that it tells.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace linkhealth {

enum class VerbsEventKind : std::uint8_t {
  kPortError,
  kPortActive,
  kDeviceFatal,  ///< also what the kernel tells each context of a device whose driver is being
                 ///< unloaded
  kLidChange,
  kSmChange,
  kPortChanged,  ///< P_Key or GID table, client reregistration
  kOther,        ///< of queues, which this program has none of
};

/// Of an `ibv_event_type` (libibverbs, ibv_get_async_event(3)).
VerbsEventKind verbs_event_kind(int type);

struct VerbsEvent {
  VerbsEventKind kind = VerbsEventKind::kOther;
  std::uint32_t port = 0;  ///< 0: the device
};

/// An open context. Closing it may wait for the firmware.
class VerbsContext {
 public:
  virtual ~VerbsContext() = default;
  /// Readable when there is an event.
  [[nodiscard]] virtual int fd() const = 0;
  /// The next event, nullopt when there is none; never blocks. An Error when the device has gone.
  virtual Result<std::optional<VerbsEvent>> next() = 0;
};

/// Used by several threads.
class VerbsLibrary {
 public:
  virtual ~VerbsLibrary() = default;
  /// May take as long as the driver and the firmware want. ENODEV: no such device; EACCES, ENOENT:
  /// its file.
  virtual Result<std::unique_ptr<VerbsContext>> open(const std::string& device) = 0;
};

/// libibverbs.
std::shared_ptr<VerbsLibrary> live_verbs();

}  // namespace linkhealth
