// Where the real modules' memory is.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

namespace linkhealth {

inline std::vector<std::filesystem::path> dumps() {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(LINKHEALTH_SHARED "/modules", error))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace linkhealth
