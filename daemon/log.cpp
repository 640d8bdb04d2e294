#include "daemon/log.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace linkhealth {

void Log::write(LogLevel level, const std::string& text) const {
  if (level > level_) return;
  constexpr std::array<const char*, 4> kPriorities = {"<3>", "<4>", "<6>", "<7>"};
  std::string line = for_journal_ ? kPriorities.at(static_cast<std::size_t>(level)) : "";
  line += text;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  line += "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace linkhealth
