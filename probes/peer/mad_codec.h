// InfiniBand management datagrams (MADs) as bytes: requests, and what the answers contain. Pure
// functions; libibmad's tables give the position of each field, always within the 256 bytes of a
// Mad.
//
// Only Get requests are built: nothing here can set an attribute or clear a counter.
//
// Sources: InfiniBand Architecture Specification volume 1, chapters 13.4 (common header), 14.2
// (subnet management) and 16.1 (performance management).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/counters.h"
#include "model/snapshot.h"

namespace linkhealth {

inline constexpr std::size_t kMadSize = 256;
using Mad = std::array<std::uint8_t, kMadSize>;

/// Management class (81h: SMP with a directed route, 04h: GMP of performance management) and
/// attribute id. `port` in a request: the port of the node; 0 on a switch is the switch itself.
enum class MadAttribute : std::uint32_t {
  kNodeInfo = 0x81'0011,
  kNodeDescription = 0x81'0010,
  kPortInfo = 0x81'0015,
  kPerfClassPortInfo = 0x04'0001,
  kPortCounters = 0x04'0012,
  kPortCountersExtended = 0x04'001d,
};

struct MadRequest {
  MadAttribute attribute = MadAttribute::kNodeInfo;
  std::uint8_t port = 0;
  /// Returned in the answer; the kernel uses the upper half of the field.
  std::uint32_t transaction = 0;
  /// The port of this node through which a directed request leaves; 0: the request is for this
  /// node's own port.
  std::uint8_t egress_port = 0;
};

Mad encode_request(const MadRequest& request);

/// The answer to `request`. Error: too short or for another request (EPROTO), or the other side
/// returned an error (EREMOTEIO).
Result<Mad> check_answer(const Mad& request, std::span<const std::uint8_t> answer);
/// Whether the two belong together: a late answer to an earlier request does not.
bool same_transaction(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

enum class IbNodeType : std::uint8_t { kUnknown, kChannelAdapter = 1, kSwitch = 2, kRouter = 3 };

struct IbNodeInfo {
  IbNodeType type = IbNodeType::kUnknown;
  std::uint8_t ports = 0;
  std::uint8_t local_port = 0;  ///< where the request arrived: the far end of our cable
  std::uint64_t node_guid = 0;
};
/// EPROTO if it is impossible (no GUID, a port number beyond the last one).
Result<IbNodeInfo> decode_node_info(const Mad& answer);

/// Safe to print; "" when the node has none.
std::string decode_node_description(const Mad& answer);
/// The system's name in a node description. Managed switches write "MF0;leaf-12:MQM9700/U1":
/// "leaf-12". "" if it is the product's name rather than this system's ("Quantum Mellanox
/// Technologies"). Anything else is returned unchanged.
std::string system_name(std::string_view node_description);
/// "b83f:d203:0012:3456", in the kernel's format.
std::string format_guid(std::uint64_t guid);

struct IbPortInfo {
  /// 0: no subnet manager has assigned one; on a switch only port 0 has one.
  std::uint16_t lid = 0;
  LinkSample link;        ///< the kernel's names; speed, lanes and MTU only while the link is up
  bool link_up = false;   ///< physically
  bool forwards = false;  ///< ARMED or ACTIVE: passes other packets than SMPs
};
IbPortInfo decode_port_info(const Mad& answer);

/// What a performance agent offers (the capability masks of its ClassPortInfo).
struct PerfCapabilities {
  bool extended = false;         ///< PortCountersExtended, with unicast and multicast
  bool extended_plain = false;   ///< PortCountersExtended without them
  bool extended_errors = false;  ///< PortCountersExtended also has the error counters, 64 bits each
  bool xmit_wait = false;
  [[nodiscard]] bool has_extended() const { return extended || extended_plain || extended_errors; }
};
PerfCapabilities decode_perf_capabilities(const Mad& answer);

/// The error counters, under the names that the same counters have in sysfs. Traffic is left out:
/// 32 bits overflow within a second. EPROTO if the answer is for another port.
Result<Counters> decode_port_counters(const Mad& answer, std::uint8_t port,
                                      const PerfCapabilities& offered);
/// 64-bit traffic counters, and error counters if the agent has them in 64 bits.
Result<Counters> decode_port_counters_extended(const Mad& answer, std::uint8_t port,
                                               const PerfCapabilities& offered);

}  // namespace linkhealth
