// What the decoders' tests have in common.
#pragma once

#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

inline ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

}  // namespace linkhealth
