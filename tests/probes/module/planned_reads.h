// What a reader that follows the plan has of a module's memory.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "model/snapshot.h"
#include "probes/module/read_plan.h"

namespace linkhealth {

/// A module behind a reader: answers from `memory`, nothing where it has nothing. Returns the pages
/// that were read.
inline std::vector<ModulePageKey> read_all(const ModuleImage& memory, ModuleImage& image) {
  std::vector<ModulePageKey> made;
  for (int round = 0; round < 200; ++round) {
    const auto batch = next_reads(image);
    if (batch.empty()) return made;
    const ModulePageRequest request = request_of(batch.front());
    EXPECT_TRUE(is_valid(request));
    made.push_back(batch.front());
    std::vector<std::uint8_t> bytes;
    for (unsigned i = 0; i < request.length; ++i)
      if (const auto byte = memory.byte(batch.front(), request.offset + i)) bytes.push_back(*byte);
    image.store(request, bytes);
  }
  ADD_FAILURE() << "the plan does not end";
  return made;
}

/// `memory` as it is known after `rounds` rounds.
inline ModuleImage as_read(const ModuleImage& memory, int rounds = 1) {
  ModuleImage image;
  for (int round = 0; round < rounds; ++round) {
    image = without_monitors(image);
    read_all(memory, image);
  }
  return image;
}

}  // namespace linkhealth
