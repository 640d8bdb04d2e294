// A command line that can't be obeyed, as one sentence that says where help is.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace linkhealth::cli {

/// Of an error while parsing: "explain: PORT is missing (linkhealth explain --help)".
std::string usage_words(const CLI::App& app, const CLI::ParseError& wrong);
/// Of a command line that could be parsed: an unknown word, with what was probably meant; nullopt
/// when it names one command and nothing is left over.
std::optional<std::string> misused(CLI::App& app);

}  // namespace linkhealth::cli
