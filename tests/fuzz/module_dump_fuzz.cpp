// Fuzzes the reader of module dumps (JSON, hex text, binary), and decodes what it accepts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probes/module/decode.h"
#include "probes/module/dump_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = linkhealth::parse_module_dump({reinterpret_cast<const char*>(data), size});
  if (image) (void)linkhealth::decode_module(*image);
  return 0;
}
