#include "mad_fabric.h"

#include <infiniband/mad.h>

#include <algorithm>
#include <cerrno>

namespace linkhealth::testing {
namespace {

constexpr int kData = 64;

class FakePort final : public MadPort {
 public:
  explicit FakePort(FakeFabric& fabric) : fabric_(fabric) { ++fabric_.open_now; }
  FakePort(const FakePort&) = delete;
  FakePort& operator=(const FakePort&) = delete;
  ~FakePort() override { --fabric_.open_now; }
  Result<std::vector<std::uint8_t>> exchange(std::uint16_t lid, const Mad& request,
                                             Milliseconds timeout, int tries) override {
    return fabric_.answer(lid, request, timeout, tries);
  }

 private:
  FakeFabric& fabric_;
};

std::uint32_t attribute_of(const Mad& mad) { return (std::uint32_t{mad[16]} << 8U) | mad[17]; }

void put_port_info(Mad& mad, const FakeFabric& fabric, bool own, std::uint8_t port) {
  mad_set_field(mad.data(), kData, IB_PORT_PHYS_STATE_F, own ? fabric.own_phys_state : 5);
  mad_set_field(mad.data(), kData, IB_PORT_STATE_F, own ? fabric.own_state : fabric.state);
  mad_set_field(mad.data(), kData, IB_PORT_LID_F,
                own         ? fabric.own_lid
                : port == 0 ? fabric.switch_lid
                            : fabric.port_lid);
  mad_set_field(mad.data(), kData, IB_PORT_LINK_WIDTH_ACTIVE_F, fabric.width);
  mad_set_field(mad.data(), kData, IB_PORT_LINK_SPEED_ACTIVE_F, fabric.speed);
  mad_set_field(mad.data(), kData, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, fabric.extended_speed);
  mad_set_field(mad.data(), kData, IB_PORT_NEIGHBOR_MTU_F, 5);
}

void put_node_info(Mad& mad, const FakeFabric& fabric) {
  mad_set_field(mad.data(), kData, IB_NODE_TYPE_F, fabric.node_type);
  mad_set_field(mad.data(), kData, IB_NODE_NPORTS_F, fabric.node_ports);
  mad_set_field(mad.data(), kData, IB_NODE_LOCAL_PORT_F, fabric.node_local_port);
  mad_set_field64(mad.data(), kData, IB_NODE_GUID_F, fabric.node_guid);
}

void put_counters(Mad& mad, const FakeFabric& fabric, bool extended) {
  const std::uint32_t port =
      mad_get_field(mad.data(), kData, IB_PC_PORT_SELECT_F) + fabric.port_select_offset;
  mad_set_field(mad.data(), kData, IB_PC_PORT_SELECT_F, port);
  if (extended) {
    mad_set_field64(mad.data(), kData, IB_PC_EXT_XMT_BYTES_F, 0x123456789abcdefU);
    mad_set_field64(mad.data(), kData, IB_PC_EXT_RCV_UPKTS_F, 41);
    mad_set_field64(mad.data(), kData, IB_PC_EXT_ERR_SYM_F, 1'000'000);
    return;
  }
  mad_set_field(mad.data(), kData, IB_PC_ERR_SYM_F, fabric.symbol_error);
  mad_set_field(mad.data(), kData, IB_PC_LINK_DOWNED_F, 2);
  mad_set_field(mad.data(), kData, IB_PC_ERR_LOCALINTEG_F, 3);
  mad_set_field(mad.data(), kData, IB_PC_ERR_EXCESS_OVR_F, 4);
  mad_set_field(mad.data(), kData, IB_PC_XMT_WAIT_F, 55);
}

}  // namespace

std::vector<std::uint32_t> FakeFabric::attributes() const {
  std::vector<std::uint32_t> all;
  for (const Request& one : requests) all.push_back(attribute_of(one.request));
  return all;
}

Result<std::vector<std::uint8_t>> FakeFabric::answer(std::uint16_t lid, const Mad& request,
                                                     Milliseconds timeout, int tries) {
  requests.push_back({request, lid, timeout, tries});
  const std::uint32_t attribute = attribute_of(request);
  const bool directed = request[1] == 0x81;
  const bool own = directed && request[7] == 0;
  if (!own && errnum.contains(attribute)) return errno_error("no answer", errnum[attribute]);
  Mad mad = request;
  mad[3] = 0x81;
  mad[8] = 0xab;  // the kernel's half of the transaction
  if (directed) mad[4] = 0x80;
  if (attribute == 0x0011) put_node_info(mad, *this);
  if (attribute == 0x0010)
    std::copy_n(description.begin(), std::min<std::size_t>(64, description.size()), &mad[kData]);
  if (attribute == 0x0015) put_port_info(mad, *this, own, mad[23]);
  if (attribute == 0x0001) {
    mad_set_field(mad.data(), kData, IB_CPI_CAPMASK_F, perf_mask);
    mad_set_field(mad.data(), kData, IB_CPI_CAPMASK2_F, perf_mask2);
  }
  if (attribute == 0x0012 || attribute == 0x001d) put_counters(mad, *this, attribute == 0x001d);
  if (!own && status.contains(attribute)) {
    mad[4] = static_cast<std::uint8_t>(mad[4] | (status[attribute] >> 8U));
    mad[5] = static_cast<std::uint8_t>(status[attribute]);
  }
  std::vector<std::uint8_t> bytes(mad.begin(), mad.end());
  if (!own && spoil) spoil(bytes);
  return bytes;
}

MadOpener FakeFabric::opener() {
  return [this](const std::string& device, std::uint32_t) -> Result<std::unique_ptr<MadPort>> {
    ++opened;
    if (open_errnum != 0) return errno_error("cannot open " + device, open_errnum);
    return std::unique_ptr<MadPort>(std::make_unique<FakePort>(*this));
  };
}

}  // namespace linkhealth::testing
