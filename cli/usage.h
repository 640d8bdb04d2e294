// A wrong command line, described in one sentence that names the help.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace linkhealth::cli {

/// For a line that CLI11 rejects: "explain: PORT is missing (linkhealth explain --help)".
std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error);
/// For a line that CLI11 accepts: two commands, or unexpected words; nullopt if it is correct.
std::optional<std::string> find_usage_error(CLI::App& app);

}  // namespace linkhealth::cli
