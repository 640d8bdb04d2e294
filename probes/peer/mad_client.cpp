#include "probes/peer/mad_client.h"

#include <utility>

namespace linkhealth {
namespace {

/// What is left when the extended query failed. Where that one has the error counters as well, the
/// short ones of the plain query (8 and 16 bits) do not replace them: under one name one reading
/// would be 65535 and the next 100000.
Result<PerfCounters> without_extended(Counters plain, const PerfCapabilities& offered,
                                      const Error& why) {
  Error reason{"64-bit ones: " + why.message, why.errnum};
  if (offered.extended_errors) return reason;
  return PerfCounters{std::move(plain), std::move(reason.message)};
}

}  // namespace

bool is_unicast_lid(std::uint16_t lid) { return lid > 0 && lid < 0xc000; }

Result<Mad> MadClient::get(MadRequest request, std::uint16_t lid) {
  request.transaction = ++transaction_;
  const Mad bytes = encode_request(request);
  ++mads_;
  const auto answer = port_.exchange(lid, bytes, timeout_.one_try, timeout_.tries);
  if (!answer) return answer.error();
  return check_answer(bytes, *answer);
}

Result<Mad> MadClient::get_directed(MadAttribute attribute, std::uint8_t egress_port,
                                    std::uint8_t port) {
  return get({attribute, port, 0, egress_port}, 0);
}

Result<Mad> MadClient::get_perf(MadAttribute attribute, std::uint16_t lid, std::uint8_t port) {
  return get({attribute, port, 0, 0}, lid);
}

Result<PerfCounters> get_counters(MadClient& client, std::uint16_t lid, std::uint8_t port,
                                  const PerfCapabilities& offered) {
  const auto plain = client.get_perf(MadAttribute::kPortCounters, lid, port);
  if (!plain) return plain.error();
  auto counters = decode_port_counters(*plain, port, offered);
  if (!counters) return counters.error();
  if (!offered.has_extended())
    return PerfCounters{std::move(*counters), "no 64-bit traffic counters there"};
  const auto extended = client.get_perf(MadAttribute::kPortCountersExtended, lid, port);
  if (!extended) return without_extended(std::move(*counters), offered, extended.error());
  const auto wide = decode_port_counters_extended(*extended, port, offered);
  if (!wide) return without_extended(std::move(*counters), offered, wide.error());
  counters->merge(*wide);
  return PerfCounters{std::move(*counters), std::nullopt};
}

}  // namespace linkhealth
