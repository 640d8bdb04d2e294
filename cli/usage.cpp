#include "cli/usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace linkhealth::cli {

namespace {

std::string with_help(const CLI::App& app, const std::string& what) {
  const auto commands = app.get_subcommands();
  const std::string command = commands.size() == 1 ? commands.front()->get_name() + " " : "";
  return fmt::format("{} (linkhealth {}--help)", what, command);
}

std::string unknown(std::string_view kind, const std::string& word,
                    const std::vector<std::string>& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto meant = closest(word, candidates);
  return fmt::format("unknown {} \"{}\"{}", kind, printable(word),
                     meant ? fmt::format(": did you mean {}?", *meant) : "");
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  const std::string command = commands.size() == 1 ? commands.front()->get_name() + ": " : "";
  std::string text = printable(error.what());
  constexpr std::string_view kMissing = " is required";
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && text.ends_with(kMissing)) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    text.replace(text.size() - kMissing.size(), kMissing.size(), " is missing");
  }
  return with_help(app, command + text);
}

std::optional<std::string> find_usage_error(CLI::App& app) {
  const auto commands = app.get_subcommands();
  if (commands.size() > 1)
    return with_help(app, fmt::format("only one command is allowed: {} or {}",
                                      commands[0]->get_name(), commands[1]->get_name()));
  const auto left = app.remaining();
  if (left.empty()) return std::nullopt;
  const std::string& word = left.front();
  if (word.starts_with("-")) {
    std::vector<std::string> known = option_names(app);
    for (const CLI::App* command : commands)
      std::ranges::copy(option_names(*command), std::back_inserter(known));
    return with_help(app, unknown("option", word, known));
  }
  if (!commands.empty())
    return with_help(app, fmt::format("unexpected argument \"{}\"", printable(word)));
  std::vector<std::string> known;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(each->get_name());
  return with_help(app, unknown("command", word, known));
}

}  // namespace linkhealth::cli
