#include "cli/demo_recording.h"

// The assembler includes the file as it is; LINKHEALTH_DEMO_FILE is its path.
asm(R"(
.section .rodata, "a"
.globl linkhealth_demo_begin, linkhealth_demo_end
.hidden linkhealth_demo_begin, linkhealth_demo_end
linkhealth_demo_begin:
.incbin ")" LINKHEALTH_DEMO_FILE R"("
linkhealth_demo_end:
.byte 0
.text
)");

extern "C" {
__attribute__((visibility("hidden"))) extern const char linkhealth_demo_begin[];
__attribute__((visibility("hidden"))) extern const char linkhealth_demo_end[];
}

namespace linkhealth::cli {

std::string_view demo_recording() {
  return {linkhealth_demo_begin,
          static_cast<std::size_t>(linkhealth_demo_end - linkhealth_demo_begin)};
}

}  // namespace linkhealth::cli
