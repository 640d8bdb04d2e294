#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

void complain(const std::string& message) {
  std::string line = "linkhealth: " + message;
  // A file's name may hold anything: one line, and nothing that a terminal obeys.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  std::fputs((line + "\n").c_str(), stderr);
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

int show(const Result<Answer>& answer, int exit_code) {
  if (!answer) {
    complain(answer.error().message);
    return kNotReachable;
  }
  if (answer->status != 200) {
    complain(refusal_text(*answer));
    return refusal_exit_code(*answer);
  }
  std::fwrite(answer->body.data(), 1, answer->body.size(), stdout);
  if (!answer->body.ends_with('\n')) std::fputc('\n', stdout);
  return exit_code;
}

}  // namespace linkhealth::cli
