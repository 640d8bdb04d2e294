#include "probes/peer/mad_codec.h"

#include <fmt/format.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/text.h"

namespace linkhealth {
namespace {

static_assert(kMadSize == IB_MAD_SIZE);

constexpr std::uint8_t kSmpDirected = 0x81;
constexpr std::uint8_t kGet = 0x01;
constexpr std::uint8_t kGetResponse = 0x81;
constexpr std::uint16_t kPermissive = 0xffff;  // means "no LID": the whole path is directed
constexpr std::size_t kClassAt = 1, kMethodAt = 3, kTransactionAt = 12;
static_assert(IB_SMP_DATA_OFFS == IB_PC_DATA_OFFS);
constexpr int kDataAt = IB_SMP_DATA_OFFS;

std::uint8_t class_of(MadAttribute attribute) {
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(attribute) >> 16U);
}
std::uint16_t id_of(MadAttribute attribute) { return static_cast<std::uint16_t>(attribute); }

// libibmad only reads, but takes a plain pointer.
std::uint8_t* bytes_of(const Mad& mad) { return const_cast<std::uint8_t*>(mad.data()); }
std::uint32_t field(const Mad& mad, int at, MAD_FIELDS which) {
  return mad_get_field(bytes_of(mad), at, which);
}
std::uint64_t field64(const Mad& mad, int at, MAD_FIELDS which) {
  return mad_get_field64(bytes_of(mad), at, which);
}

/// The names used in sysfs (linux: drivers/infiniband/core/sysfs.c state_show, phys_state_show).
constexpr std::string_view kStates[] = {"", "DOWN", "INIT", "ARMED", "ACTIVE"};
constexpr std::string_view kPhysStates[] = {"",
                                            "Sleep",
                                            "Polling",
                                            "Disabled",
                                            "PortConfigurationTraining",
                                            "LinkUp",
                                            "LinkErrorRecovery",
                                            "Phy Test"};
constexpr std::uint32_t kDisabled = 3, kArmed = 3, kActive = 4;

struct Coded {
  std::uint32_t code;
  std::uint32_t value;
};
// Speeds are per lane, rounded as in the kernel's rate file, so that both ends can be compared.
constexpr Coded kWidths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
constexpr Coded kSpeedsMbps[] = {{1, 2'500}, {2, 5'000}, {4, 10'000}};
constexpr Coded kExtendedSpeedsMbps[] = {{1, 14'000}, {2, 25'000}, {4, 50'000}, {8, 100'000}};
constexpr Coded kExtendedSpeeds2Mbps[] = {{1, 200'000}};
constexpr Coded kMtus[] = {{1, 256}, {2, 512}, {3, 1024}, {4, 2048}, {5, 4096}};

template <std::size_t N>
std::optional<std::uint32_t> look_up(const Coded (&table)[N], std::uint32_t code) {
  for (const Coded& row : table)
    if (row.code == code) return row.value;
  return std::nullopt;
}

template <std::size_t N>
std::string word(const std::string_view (&words)[N], std::uint32_t index) {
  return index < N ? std::string(words[index]) : std::string();
}

/// LinkSpeedExtActive2: the first three bits of byte 56 of PortInfo, reserved before XDR. Debian
/// 12's libibmad has no name for it (rdma-core calls it IB_PORT_LINK_SPEED_EXT_ACTIVE_2_F).
std::uint32_t extended_speed_2(const Mad& answer) {
  constexpr std::size_t kByte = 56;
  return answer.at(kDataAt + kByte) >> 5U;
}

std::optional<std::uint32_t> lane_speed_mbps(const Mad& answer) {
  // A newer speed field overrides the older ones, even with an unknown code: then the speed is
  // unknown.
  if (const std::uint32_t extended_2 = extended_speed_2(answer); extended_2 != 0)
    return look_up(kExtendedSpeeds2Mbps, extended_2);
  // CapabilityMask decides whether this field counts, but a switch has the mask in port 0 only;
  // elsewhere an unused field is 0.
  const std::uint32_t extended = field(answer, kDataAt, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
  if (extended != 0) return look_up(kExtendedSpeedsMbps, extended);
  return look_up(kSpeedsMbps, field(answer, kDataAt, IB_PORT_LINK_SPEED_ACTIVE_F));
}

/// The meaning of the low bits of a status (IBA 13.4.7).
std::string_view status_text(std::uint32_t status) {
  switch (status >> 2U & 7U) {
    case 1:
      return "does not know this version";
    case 2:
      return "does not support the method";
    case 3:
      return "does not support the attribute";
    case 7:
      return "refuses the value";
    default:
      break;
  }
  if ((status & 1U) != 0) return "is busy";
  return (status & 2U) != 0 ? "refers to another agent" : "answers with an error";
}

struct ErrorField {
  MAD_FIELDS plain, extended;
  std::string_view name;
};
constexpr ErrorField kErrorFields[] = {
    {IB_PC_ERR_SYM_F, IB_PC_EXT_ERR_SYM_F, "symbol_error"},
    {IB_PC_LINK_RECOVERS_F, IB_PC_EXT_LINK_RECOVERS_F, "link_error_recovery"},
    {IB_PC_LINK_DOWNED_F, IB_PC_EXT_LINK_DOWNED_F, "link_downed"},
    {IB_PC_ERR_RCV_F, IB_PC_EXT_ERR_RCV_F, "port_rcv_errors"},
    {IB_PC_ERR_PHYSRCV_F, IB_PC_EXT_ERR_PHYSRCV_F, "port_rcv_remote_physical_errors"},
    {IB_PC_ERR_SWITCH_REL_F, IB_PC_EXT_ERR_SWITCH_REL_F, "port_rcv_switch_relay_errors"},
    {IB_PC_XMT_DISCARDS_F, IB_PC_EXT_XMT_DISCARDS_F, "port_xmit_discards"},
    {IB_PC_ERR_XMTCONSTR_F, IB_PC_EXT_ERR_XMTCONSTR_F, "port_xmit_constraint_errors"},
    {IB_PC_ERR_RCVCONSTR_F, IB_PC_EXT_ERR_RCVCONSTR_F, "port_rcv_constraint_errors"},
    {IB_PC_ERR_LOCALINTEG_F, IB_PC_EXT_ERR_LOCALINTEG_F, "local_link_integrity_errors"},
    {IB_PC_ERR_EXCESS_OVR_F, IB_PC_EXT_ERR_EXCESS_OVR_F, "excessive_buffer_overrun_errors"},
    {IB_PC_VL15_DROPPED_F, IB_PC_EXT_VL15_DROPPED_F, "VL15_dropped"},
};
struct CounterField {
  MAD_FIELDS field;
  std::string_view name;
};
constexpr CounterField kTrafficFields[] = {
    {IB_PC_EXT_XMT_BYTES_F, "port_xmit_data"},
    {IB_PC_EXT_RCV_BYTES_F, "port_rcv_data"},
    {IB_PC_EXT_XMT_PKTS_F, "port_xmit_packets"},
    {IB_PC_EXT_RCV_PKTS_F, "port_rcv_packets"},
};
constexpr CounterField kCastFields[] = {
    {IB_PC_EXT_XMT_UPKTS_F, "unicast_xmit_packets"},
    {IB_PC_EXT_RCV_UPKTS_F, "unicast_rcv_packets"},
    {IB_PC_EXT_XMT_MPKTS_F, "multicast_xmit_packets"},
    {IB_PC_EXT_RCV_MPKTS_F, "multicast_rcv_packets"},
};

Error wrong_port(std::uint32_t came, std::uint8_t port) {
  return {fmt::format("the answer is about port {}, not {}", came, port), EPROTO};
}

}  // namespace

Mad encode_request(const MadRequest& request) {
  Mad mad{};
  mad_set_field(mad.data(), 0, IB_MAD_BASEVER_F, 1);
  mad_set_field(mad.data(), 0, IB_MAD_MGMTCLASS_F, class_of(request.attribute));
  mad_set_field(mad.data(), 0, IB_MAD_CLASSVER_F, 1);
  mad_set_field(mad.data(), 0, IB_MAD_METHOD_F, kGet);
  mad_set_field64(mad.data(), 0, IB_MAD_TRID_F, request.transaction);
  mad_set_field(mad.data(), 0, IB_MAD_ATTRID_F, id_of(request.attribute));
  if (class_of(request.attribute) == kSmpDirected) {
    mad_set_field(mad.data(), 0, IB_MAD_ATTRMOD_F, request.port);
    mad_set_field(mad.data(), 0, IB_DRSMP_HOPCNT_F, request.egress_port != 0 ? 1 : 0);
    mad_set_field(mad.data(), 0, IB_DRSMP_DRSLID_F, kPermissive);
    mad_set_field(mad.data(), 0, IB_DRSMP_DRDLID_F, kPermissive);
    constexpr std::size_t kInitialPathAt = 128;
    mad[kInitialPathAt + 1] = request.egress_port;
  } else if (request.attribute != MadAttribute::kPerfClassPortInfo) {
    mad_set_field(mad.data(), kDataAt, IB_PC_PORT_SELECT_F, request.port);
  }
  return mad;
}

bool same_transaction(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  constexpr std::size_t kSize = 4;
  return a.size() >= kTransactionAt + kSize && b.size() >= kTransactionAt + kSize &&
         std::ranges::equal(a.subspan(kTransactionAt, kSize), b.subspan(kTransactionAt, kSize));
}

Result<Mad> check_answer(const Mad& request, std::span<const std::uint8_t> answer) {
  if (answer.size() != kMadSize)
    return Error{fmt::format("an answer of {} bytes, not {}", answer.size(), kMadSize), EPROTO};
  Mad mad{};
  std::ranges::copy(answer, mad.begin());
  const auto attribute = [](const Mad& m) { return field(m, 0, IB_MAD_ATTRID_F); };
  if (!same_transaction(request, answer)) return Error{"the answer to another request", EPROTO};
  if (mad[0] != 1 || mad[kClassAt] != request[kClassAt] || mad[kMethodAt] != kGetResponse)
    return Error{"not an answer", EPROTO};
  // Check the status first: some agents return an error without the attribute. In a directed MAD
  // its top bit is the direction.
  const std::uint32_t status = mad[kClassAt] == kSmpDirected ? field(mad, 0, IB_DRSMP_STATUS_F)
                                                             : field(mad, 0, IB_MAD_STATUS_F);
  if (status != 0)
    return Error{fmt::format("the far end {} (status 0x{:04x})", status_text(status), status),
                 EREMOTEIO};
  if (attribute(mad) != attribute(request)) return Error{"an answer about something else", EPROTO};
  return mad;
}

Result<IbNodeInfo> decode_node_info(const Mad& answer) {
  IbNodeInfo info;
  const std::uint32_t type = field(answer, kDataAt, IB_NODE_TYPE_F);
  info.type = type <= 3 ? static_cast<IbNodeType>(type) : IbNodeType::kUnknown;
  info.ports = static_cast<std::uint8_t>(field(answer, kDataAt, IB_NODE_NPORTS_F));
  info.local_port = static_cast<std::uint8_t>(field(answer, kDataAt, IB_NODE_LOCAL_PORT_F));
  info.node_guid = field64(answer, kDataAt, IB_NODE_GUID_F);
  if (info.node_guid == 0 || ~info.node_guid == 0) return Error{"NodeInfo without a GUID", EPROTO};
  if (info.local_port == 0 || info.local_port > info.ports)
    return Error{fmt::format("NodeInfo of port {} of {}", info.local_port, info.ports), EPROTO};
  return info;
}

std::string decode_node_description(const Mad& answer) {
  constexpr std::size_t kLength = 64;
  const std::string_view text(reinterpret_cast<const char*>(answer.data()) + kDataAt, kLength);
  return printable(trim(text.substr(0, text.find('\0'))));
}

std::string system_name(std::string_view description) {
  const std::size_t semicolon = description.find(';');
  const std::size_t colon =
      description.find(':', semicolon == std::string_view::npos ? 0 : semicolon);
  if (description.starts_with("MF0;") && colon != std::string_view::npos && colon > semicolon + 1)
    return std::string(description.substr(semicolon + 1, colon - semicolon - 1));
  if (description.ends_with("Mellanox Technologies")) return "";
  return std::string(description);
}

std::string format_guid(std::uint64_t guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48U, (guid >> 32U) & 0xffffU,
                     (guid >> 16U) & 0xffffU, guid & 0xffffU);
}

IbPortInfo decode_port_info(const Mad& answer) {
  IbPortInfo info;
  const std::uint32_t state = field(answer, kDataAt, IB_PORT_STATE_F);
  const std::uint32_t phys_state = field(answer, kDataAt, IB_PORT_PHYS_STATE_F);
  info.lid = static_cast<std::uint16_t>(field(answer, kDataAt, IB_PORT_LID_F));
  info.forwards = state == kArmed || state == kActive;
  info.link.state = word(kStates, state);
  info.link.phys_state = word(kPhysStates, phys_state);
  info.link_up = has_link(info.link.phys_state);
  if (phys_state != 0) {
    info.link.carrier = info.link_up;
    info.link.admin_up = phys_state != kDisabled;
  }
  if (!info.link_up) return info;
  info.link.lanes = look_up(kWidths, field(answer, kDataAt, IB_PORT_LINK_WIDTH_ACTIVE_F));
  const auto speed = lane_speed_mbps(answer);
  if (speed && info.link.lanes) info.link.speed_mbps = *speed * *info.link.lanes;
  info.link.mtu_bytes = look_up(kMtus, field(answer, kDataAt, IB_PORT_NEIGHBOR_MTU_F));
  return info;
}

PerfCapabilities decode_perf_capabilities(const Mad& answer) {
  const std::uint32_t mask = field(answer, kDataAt, IB_CPI_CAPMASK_F);
  const std::uint32_t mask2 = field(answer, kDataAt, IB_CPI_CAPMASK2_F);
  PerfCapabilities offered;
  offered.extended = (mask & (1U << 9U)) != 0;
  offered.extended_plain = (mask & (1U << 10U)) != 0;
  offered.xmit_wait = (mask & (1U << 12U)) != 0;
  offered.extended_errors = (mask2 & (1U << 1U)) != 0;
  return offered;
}

Result<Counters> decode_port_counters(const Mad& answer, std::uint8_t port,
                                      const PerfCapabilities& offered) {
  const std::uint32_t came = field(answer, kDataAt, IB_PC_PORT_SELECT_F);
  if (came != port) return wrong_port(came, port);
  Counters counters;
  for (const ErrorField& row : kErrorFields)
    counters.set(row.name, field(answer, kDataAt, row.plain));
  if (offered.xmit_wait) counters.set("port_xmit_wait", field(answer, kDataAt, IB_PC_XMT_WAIT_F));
  return counters;
}

Result<Counters> decode_port_counters_extended(const Mad& answer, std::uint8_t port,
                                               const PerfCapabilities& offered) {
  const std::uint32_t came = field(answer, kDataAt, IB_PC_EXT_PORT_SELECT_F);
  if (came != port) return wrong_port(came, port);
  Counters counters;
  const auto read = [&](MAD_FIELDS which, std::string_view name) {
    counters.set(name, field64(answer, kDataAt, which));
  };
  for (const CounterField& row : kTrafficFields) read(row.field, row.name);
  if (offered.extended)
    for (const CounterField& row : kCastFields) read(row.field, row.name);
  if (!offered.extended_errors) return counters;
  for (const ErrorField& row : kErrorFields) read(row.extended, row.name);
  read(IB_PC_EXT_XMT_WAIT_F, "port_xmit_wait");
  return counters;
}

}  // namespace linkhealth
