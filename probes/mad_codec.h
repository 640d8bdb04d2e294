// InfiniBand management datagrams (MADs) as bytes: the questions we ask, and what the answers say.
// Pure functions; the place of each field comes from libibmad's tables, which never reach behind
// the 256 bytes that the types here have.
//
// Only Get is ever made: nothing here can set an attribute or clear a counter.
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

enum class MadQuestion : std::uint8_t {
  kNodeInfo,         ///< SMP, directed route
  kNodeDescription,  ///< likewise
  kPortInfo,  ///< likewise; `port` is the port asked about, 0 of a switch is the switch itself
  kPerfClassPortInfo,     ///< GMP
  kPortCounters,          ///< GMP; `port` likewise
  kPortCountersExtended,  ///< GMP; `port` likewise
};

struct MadRequest {
  MadQuestion question = MadQuestion::kNodeInfo;
  std::uint8_t port = 0;
  std::uint32_t transaction =
      0;  ///< comes back in the answer; the kernel uses the upper half of the field
  /// The port of this node by which a directed question leaves; 0: it is for this node's own port.
  std::uint8_t leaves_by = 0;
};

Mad encode_request(const MadRequest& request);

/// The answer to `request`, or why these bytes are not a good one: too short, another question's
/// (EPROTO), or the other side's own error (EREMOTEIO).
Result<Mad> check_answer(const Mad& request, std::span<const std::uint8_t> answer);
/// Whether the two belong together, whatever the answer says: late answers to earlier questions do
/// not.
bool same_transaction(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

enum class IbNodeType : std::uint8_t { kUnknown, kAdapter = 1, kSwitch = 2, kRouter = 3 };

struct IbNodeInfo {
  IbNodeType type = IbNodeType::kUnknown;
  std::uint8_t ports = 0;
  std::uint8_t local_port =
      0;  ///< the port by which the question came in: the far end of our cable
  std::uint64_t node_guid = 0;
};
/// EPROTO when it cannot be true (no GUID, a port number beyond the last one).
Result<IbNodeInfo> decode_node_info(const Mad& answer);

/// Safe to print; "" when the node has none.
std::string decode_node_description(const Mad& answer);
/// The system's name in a node description. Managed switches write "MF0;leaf-12:MQM9700/U1":
/// "leaf-12". "" for what is the product's name and not this system's ("Quantum Mellanox
/// Technologies"). Anything else stays as it is.
std::string system_name(std::string_view node_description);
/// "b83f:d203:0012:3456", as the kernel writes it.
std::string format_guid(std::uint64_t guid);

struct IbPortInfo {
  std::uint16_t lid =
      0;  ///< 0: no subnet manager has given one (and always 0 for a switch's ports other than 0)
  LinkSample link;        ///< the kernel's words; speed, lanes and MTU only while the link is up
  bool link_up = false;   ///< physically
  bool forwards = false;  ///< ARMED or ACTIVE: other than SMPs get through
};
IbPortInfo decode_port_info(const Mad& answer);

/// What a performance agent offers (its ClassPortInfo's capability masks).
struct PerfCapabilities {
  bool extended = false;         ///< PortCountersExtended, with unicast and multicast
  bool extended_plain = false;   ///< PortCountersExtended without them
  bool extended_errors = false;  ///< PortCountersExtended also has the error counters, 64 bits each
  bool xmit_wait = false;
  [[nodiscard]] bool has_extended() const { return extended || extended_plain || extended_errors; }
};
PerfCapabilities decode_perf_capabilities(const Mad& answer);

/// The error counters, under the names that the same counters have in sysfs. Traffic is left out:
/// 32 bits are full within a second. EPROTO when the answer is about another port.
Result<Counters> decode_port_counters(const Mad& answer, std::uint8_t port,
                                      const PerfCapabilities& offered);
/// Traffic in 64 bits, and error counters where the agent has those in 64 bits.
Result<Counters> decode_port_counters_extended(const Mad& answer, std::uint8_t port,
                                               const PerfCapabilities& offered);

}  // namespace linkhealth
