// RDMA netlink: the verbs devices, the state of their ports, and all hw_counters of a port in one
// request.
//
// Layout: include/uapi/rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c. Where a driver or
// kernel answers EINVAL or EOPNOTSUPP the same facts are in /sys/class/infiniband.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/counters.h"
#include "probes/host.h"
#include "probes/netlink_message.h"

namespace linkhealth {

/// RDMA_NLDEV_CMD_GET.
struct RdmaDevice {
  std::uint32_t index = 0;  ///< the kernel's number, which the other requests take; never reused
  std::string name;         ///< "mlx5_0"
};

/// RDMA_NLDEV_CMD_PORT_GET.
struct RdmaPort {
  std::string state;  ///< "DOWN", "INIT", "ARMED", "ACTIVE"; "" for none and for a code that is new
  std::string phys_state;  ///< "Sleep", "Polling", "Disabled", "LinkUp", …; "" likewise
};

Bytes build_rdma_devices_dump();
Result<RdmaDevice> parse_rdma_device(ByteView message);
/// EPROTONOSUPPORT: the kernel has no RDMA netlink (ib_core is not loaded).
Result<std::vector<RdmaDevice>> read_rdma_devices(Host& host);

Bytes build_rdma_port_get(std::uint32_t device, std::uint32_t port);
Result<RdmaPort> parse_rdma_port(ByteView message);
Result<RdmaPort> read_rdma_port(Host& host, std::uint32_t device, std::uint32_t port);

/// RDMA_NLDEV_CMD_STAT_GET of a port's default counter set. Unlike a read of the files it is not
/// cached by the kernel.
Bytes build_rdma_counters_get(std::uint32_t device, std::uint32_t port);
/// By the kernel's own names. Empty when the driver has no counters.
Result<Counters> parse_rdma_counters(ByteView message);
Result<Counters> read_rdma_counters(Host& host, std::uint32_t device, std::uint32_t port);

}  // namespace linkhealth
