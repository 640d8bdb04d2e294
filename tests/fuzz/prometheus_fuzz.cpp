// Fuzzes the reader of Prometheus' answers: bytes from any server.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/prometheus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto rows = linkhealth::cli::parse_vector({reinterpret_cast<const char*>(data), size});
  if (rows ? rows->size() > linkhealth::cli::kMostRows : rows.error().message.empty()) std::abort();
  return 0;
}
