// A module's memory as files: the output of `ethtool -m DEV raw on` and `hex on`, and the JSON of a
// dump.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "probes/module/image.h"

namespace linkhealth::testing {

/// These halves of the memory in sequence; zeros for an absent one.
inline std::string ethtool_raw(const ModuleImage& image,
                               std::initializer_list<ModulePageKey> keys) {
  std::string out;
  for (const ModulePageKey& key : keys) {
    const auto half = image.whole(key);
    for (unsigned i = 0; i < 128; ++i) out.push_back(half ? static_cast<char>((*half)[i]) : '\0');
  }
  return out;
}

inline std::string ethtool_hex(const std::string& raw) {
  std::string out = "Offset\t\tValues\n------\t\t------\n";
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i % 16 == 0) out += fmt::format("0x{:04x}:\t\t", i);
    out += fmt::format("{:02x}{}", static_cast<unsigned char>(raw[i]), i % 16 == 15 ? "\n" : " ");
  }
  return out;
}

/// Parts of the memory, with their names in the JSON.
inline std::string dump_json(std::initializer_list<std::pair<const char*, std::string>> pieces) {
  std::string out;
  for (const auto& [name, bytes] : pieces) {
    out += fmt::format("{}\"{}\":\"", out.empty() ? "" : ",", name);
    for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    out += '"';
  }
  return "{\"pages\":{" + out + "}}\n";
}

}  // namespace linkhealth::testing
