// The seam to libibverbs: a device's context and its asynchronous events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace linkhealth {

struct VerbsEvent {
  int type = 0;            ///< ibv_event_type (ibv_get_async_event(3))
  std::uint32_t port = 0;  ///< 0: an event of the device, or of a queue
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
  /// May wait for the driver and the firmware. ENODEV: no such device; EACCES, ENOENT: its file.
  virtual Result<std::unique_ptr<VerbsContext>> open(const std::string& device) = 0;
};

/// libibverbs.
std::shared_ptr<VerbsLibrary> live_verbs();

}  // namespace linkhealth
