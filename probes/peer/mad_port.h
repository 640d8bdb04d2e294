// The interface to a port's management datagrams: one datagram is sent, and its answer or an error
// is returned.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "probes/peer/mad_codec.h"

namespace linkhealth {

class MadPort {
 public:
  virtual ~MadPort() = default;
  /// Sends `request` (from encode_request) and waits for the answer of the same transaction; late
  /// answers to earlier ones are dropped. `lid` is for requests without a directed route. The
  /// kernel sends the request `tries` times, each with its own `timeout`: ETIMEDOUT if none was
  /// answered. The answer's bytes are not checked.
  virtual Result<std::vector<std::uint8_t>> exchange(std::uint16_t lid, const Mad& request,
                                                     Milliseconds timeout, int tries) = 0;
};

/// Opens the management interface of a verbs device's port. EACCES or EPERM: insufficient
/// permissions; ENODEV: the kernel offers none. The message names the remedy.
using MadOpener =
    std::function<Result<std::unique_ptr<MadPort>>(const std::string& device, std::uint32_t port)>;

/// The MadOpener of the running kernel: libibumad over /dev/infiniband/umadN (module ib_umad). Each
/// open port uses one descriptor and two kernel agents, which are freed when it is closed.
Result<std::unique_ptr<MadPort>> open_umad_port(const std::string& device, std::uint32_t port);

/// Whether the port can use MADs at all. Port numbers above 254 do not exist in InfiniBand (IBA
/// 14.2.5.3).
inline bool has_mads(const PortId& id) {
  return id.link_layer == "InfiniBand" && id.verbs && id.port > 0 && id.port < 255;
}

}  // namespace linkhealth
