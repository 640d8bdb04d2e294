#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

void complain(const std::string& message) {
  std::string line = "linkhealth: " + message;
  // A file name may contain any byte: make it one line without control characters.
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  std::fputs((line + "\n").c_str(), stderr);
}

Result<std::uint64_t> parse_duration_s(std::string_view text, std::uint64_t longest_s) {
  const Error wrong{fmt::format("\"{}\" is not a duration: use 90s, 10m, 2h or 1d, at most {}d",
                                printable(text), longest_s / kDay_s)};
  std::uint64_t factor = 1;
  std::string_view digits = text;
  constexpr std::string_view kUnits = "smhd";
  constexpr std::uint64_t kSeconds[] = {1, 60, 3600, 86400};
  if (!text.empty())
    if (const auto unit = kUnits.find(text.back()); unit != std::string_view::npos) {
      factor = kSeconds[unit];
      digits.remove_suffix(1);
    }
  const auto number = parse_u64(digits);
  if (!number || *number == 0 || *number > longest_s / factor) return wrong;
  return *number * factor;
}

int after_output(int exit_code) {
  errno = 0;
  const bool written =
      std::fflush(stdout) == 0 && std::ferror(stdout) == 0;  // std::cout is stdout too
  if (written) return exit_code;
  constexpr const char* kLost = "the output could not be written";
  complain(errno == 0 ? kLost : errno_error(kLost, errno).message);
  return kDaemonError;
}

int print(std::string_view text, int exit_code) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.empty() && !text.ends_with('\n')) std::fputc('\n', stdout);
  return exit_code;
}

int run_command(const std::function<int()>& command) {
  try {
    return command();
  } catch (const CommandError& error) {
    complain(error.what());
    return error.exit_code;
  }
}

}  // namespace linkhealth::cli
