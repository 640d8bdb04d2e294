// SFF-8636 rev 2.11, 6.7.2: 24 parameters; their flags, values and kinds on page 20h, sets of
// limits on page 21h. All numbers most significant byte first.
#include "probes/module/maps.h"
#include "probes/module/observables.h"

namespace linkhealth {

namespace {

constexpr unsigned kParameters = 24;
constexpr unsigned kFlagsAt = 128;   // a nibble each, the odd parameter's is the high one
constexpr unsigned kValuesAt = 152;  // two bytes each
constexpr unsigned kKindsAt = 200;   // two bytes each: set of limits, lane, type

}  // namespace

void decode_sff8636_parameters(const ModuleImage& image, bool copper, ModuleSample& sample) {
  const ModulePage page = upper_page(image, 0x20);
  const ModulePage limits = upper_page(image, 0x21);
  ObservableCollector out(sff8636_observables(), sample);
  for (unsigned i = 0; i < kParameters; ++i) {
    const auto where = page.byte(kKindsAt + 2 * i);
    const auto type = page.byte(kKindsAt + 2 * i + 1);
    if (!where || !type || *type == 0) continue;
    ObservableInstance instance;
    instance.type = *type;
    if ((*where & 0x04U) != 0) instance.lane = *where & 0x03U;
    // What a copper cable means by its values its maker knows: only the flags are kept, which a
    // read has cleared.
    if (!copper) instance.value = page.u16(kValuesAt + 2 * i);
    if (!copper) instance.limits = read_quad(limits, 128 + 8 * (*where >> 4U));
    instance.flags = read_flags(page, kSff8636Flags, kFlagsAt + i / 2, i % 2 == 0 ? 7 : 3);
    out.take(instance);
  }
  out.finish();
}

}  // namespace linkhealth
