// MadPort on the running kernel: libibumad over /dev/infiniband/umadN (module ib_umad).
#pragma once

#include "probes/peer/mad_port.h"

namespace linkhealth {

/// A MadOpener. Each open port holds one descriptor and two agents of the kernel; closing it gives
/// them back.
Result<std::unique_ptr<MadPort>> open_umad_port(const std::string& device, std::uint32_t port);

}  // namespace linkhealth
