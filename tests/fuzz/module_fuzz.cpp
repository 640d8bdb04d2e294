// Fuzzes one memory map (MODULE_IDENTIFIER): the input is the answers to the reads, in the
// order of the plan.
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
  int rounds = 0;
  for (auto batch = next_reads(image); !batch.empty(); batch = next_reads(image)) {
    if (++rounds > 30) std::abort();  // the plan must end
    for (const ModulePageKey& key : batch) {
      const ModulePageRequest request = request_of(key);
      if (!is_valid(request)) std::abort();
      const auto bytes = input.first(std::min<std::size_t>(input.size(), request.length));
      input = input.subspan(bytes.size());
      image.store(request, bytes);
      const std::uint8_t identifier = MODULE_IDENTIFIER;
      if (key == kLowerPage) image.store({kModuleAddressA0, 0, 0, 0, 1}, {&identifier, 1});
    }
  }
  const ModuleSample sample = decode_module(image);
  if (sample.kind == "dac" && !sample.lanes.empty()) std::abort();
  for (const ModuleLane& lane : sample.lanes)
    if (sample.kind == "acc" && (lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma))
      std::abort();
  if (const auto check = identity_request(image); check && !is_valid(*check)) std::abort();
  (void)why_nothing_known(image);
  return 0;
}
