// Fuzzes one memory map (MODULE_IDENTIFIER): the input is what the reads give, in the order in
// which the plan asks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "probes/module/decode.h"
#include "probes/module/read_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linkhealth;
  std::span<const std::uint8_t> input(data, size);
  ModuleImage image;
  for (const ReadScope scope : {ReadScope::kIdentity, ReadScope::kMonitors}) {
    int rounds = 0;
    for (auto batch = next_reads(image, scope); !batch.empty(); batch = next_reads(image, scope)) {
      if (++rounds > 20) std::abort();  // the plan must end
      for (const ModulePageRequest& request : batch) {
        if (!is_valid(request)) std::abort();
        const auto bytes = input.first(std::min<std::size_t>(input.size(), request.length));
        input = input.subspan(bytes.size());
        image.store(request, bytes);
        const std::uint8_t identifier = MODULE_IDENTIFIER;
        if (request.offset == 0 && request.i2c_address == kModuleAddressA0)
          image.store({kModuleAddressA0, 0, 0, 0, 1}, {&identifier, 1});
      }
    }
  }
  const ModuleSample sample = decode_module(image);
  if (sample.kind == "dac" && !sample.lanes.empty()) std::abort();
  for (const ModuleLane& lane : sample.lanes)
    if (sample.kind == "acc" && (lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma))
      std::abort();
  if (const auto proof = proof_request(without_monitors(image)); proof && !is_valid(*proof))
    std::abort();
  (void)why_nothing_known(image);
  return 0;
}
