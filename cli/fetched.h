// The daemon's answers as values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/client.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

/// A value, or a message and an exit code.
template <typename T>
struct Fetched {
  std::optional<T> value;
  std::string message;
  int exit_code = kOk;
};

template <typename T>
Fetched<T> fetch_as(const Client& client, const std::string& path,
                    Result<T> (*parse)(std::string_view)) {
  const auto answer = client.get(path);
  if (!answer) return {{}, answer.error().message, kNotReachable};
  if (answer->status != 200) return {{}, refusal_text(*answer), refusal_exit_code(*answer)};
  auto value = parse(answer->body);
  if (!value)
    return {{}, "the daemon's answer cannot be parsed: " + value.error().message, kDaemonError};
  return {*std::move(value), "", kOk};
}

/// Prints a text and returns its exit code; complains when there is none.
int print(const Fetched<std::string>& text);

}  // namespace linkhealth::cli
