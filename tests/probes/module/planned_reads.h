// What a reader that follows the plan has of a module's memory.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/snapshot.h"
#include "probes/module/read_plan.h"

namespace linkhealth {

/// A module behind a reader: answers from `memory`, nothing where it has nothing. Returns the
/// requests that were made.
inline std::vector<ModulePageRequest> read_all(const ModuleImage& memory, ModuleImage& image,
                                               ReadScope scope) {
  std::vector<ModulePageRequest> made;
  for (int round = 0; round < 20; ++round) {
    const auto batch = next_reads(image, scope);
    if (batch.empty()) return made;
    for (const ModulePageRequest& request : batch) {
      EXPECT_TRUE(is_valid(request));
      made.push_back(request);
      std::vector<std::uint8_t> bytes;
      const ModulePageKey key{request.i2c_address, request.bank, request.page,
                              request.offset >= 128};
      for (unsigned i = 0; i < request.length; ++i)
        if (const auto byte = memory.byte(key, request.offset + i)) bytes.push_back(*byte);
      image.store(request, bytes);
    }
  }
  ADD_FAILURE() << "the plan does not end";
  return made;
}

/// `memory` as it is known after the module was put in and `rounds` rounds of monitors.
inline ModuleImage as_read(const ModuleImage& memory, int rounds = 1) {
  ModuleImage image;
  read_all(memory, image, ReadScope::kIdentity);
  for (int round = 0; round < rounds; ++round) {
    image = without_monitors(image);
    read_all(memory, image, ReadScope::kIdentity);
    read_all(memory, image, ReadScope::kMonitors);
  }
  return image;
}

/// Those of pattern tests stay in the module.
inline ModuleSample without_test_flags(ModuleSample sample) {
  std::erase_if(sample.other_flags, [](const OtherFlag& flag) {
    return flag.name.find("pattern_") != std::string::npos;
  });
  return sample;
}

}  // namespace linkhealth
