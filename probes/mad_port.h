// The seam to a port's management interface: one datagram goes out, its answer or an error comes
// back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "probes/mad_codec.h"

namespace linkhealth {

class MadPort {
 public:
  virtual ~MadPort() = default;
  /// Sends `request` (from encode_request) and waits for the answer of the same transaction; late
  /// answers to earlier ones are dropped. `lid` is for questions that take no directed route. The
  /// kernel sends it `tries` times, each with its own `timeout`: ETIMEDOUT when none was answered.
  /// The answer's bytes are not checked.
  virtual Result<std::vector<std::uint8_t>> ask(std::uint16_t lid, const Mad& request,
                                                Milliseconds timeout, int tries) = 0;
};

/// Opens the management interface of a verbs device's port. EACCES or EPERM: no right to; ENODEV:
/// the kernel offers none. The message says what to do.
using MadOpener =
    std::function<Result<std::unique_ptr<MadPort>>(const std::string& device, std::uint32_t port)>;

}  // namespace linkhealth
