#include "daemon/log.h"

#include <array>
#include <cstdio>

#include "base/hidden_text.h"

namespace linkhealth {

void Log::write(LogLevel level, const std::string& text) const {
  if (level > level_) return;
  constexpr std::array<const char*, 4> kPriorities = {"<3>", "<4>", "<6>", "<7>"};
  std::string line = for_journal_ ? kPriorities.at(static_cast<std::size_t>(level)) : "";
  line += without_hidden(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace linkhealth
