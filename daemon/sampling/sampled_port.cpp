#include "daemon/sampling/sampled_port.h"

namespace linkhealth {

LinkSample SampledPort::link() const {
  LinkSample link = kernel;
  if (netdev) {
    link.admin_up = netdev->admin_up;
    link.carrier = netdev->carrier;
    link.mtu_bytes = netdev->mtu_bytes;
    link.carrier_up_count = netdev->carrier_up_count;
    link.carrier_down_count = netdev->carrier_down_count;
  }
  if (link.carrier == false) {
    link.speed_mbps.reset();
    link.lanes.reset();
  } else {
    link.down_reason.reset();
  }
  return link;
}

}  // namespace linkhealth
