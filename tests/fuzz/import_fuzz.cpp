// Any bytes are read without a crash, and what is used lies within what a module can have.
#include <cstdint>
#include <cstdlib>

#include "probes/peer/import_file.h"

namespace {

void check(const linkhealth::ModuleSample& module) {
  if (module.lanes.size() > 32) std::abort();
  for (const auto& lane : module.lanes)
    if (lane.rx_power_mw && !(*lane.rx_power_mw >= 0 && *lane.rx_power_mw <= 1000)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = linkhealth::parse_import_file({reinterpret_cast<const char*>(data), size});
  if (!file) {
    if (file.error().message.empty()) std::abort();
    return 0;
  }
  if (!(file->valid_for_s > 0 && file->valid_for_s <= linkhealth::kMaxImportValidSeconds))
    std::abort();
  for (const auto& [key, port] : file->ports) {
    if (port.module) check(*port.module);
    if (port.peer && port.peer->module) check(*port.peer->module);
    if (port.peer && port.peer->source != "telemetry" && port.peer->source != "fleet") std::abort();
  }
  return 0;
}
