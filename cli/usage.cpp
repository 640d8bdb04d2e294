#include "cli/usage.h"

#include <fmt/format.h>

#include "base/text.h"

namespace linkhealth::cli {

namespace {

std::string with_help(const CLI::App& app, const std::string& what) {
  const auto commands = app.get_subcommands();
  const std::string command = commands.size() == 1 ? commands.front()->get_name() + " " : "";
  return fmt::format("{} (linkhealth {}--help)", what, command);
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// What is wrong with a command line that could be parsed; nullopt when it names one command and
/// nothing is left over.
std::optional<std::string> misuse(CLI::App& app) {
  const auto commands = app.get_subcommands();
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  const auto left = app.remaining();
  if (left.empty()) {
    if (commands.size() > 1)
      return "one command at a time: " + commands[0]->get_name() + " or " + commands[1]->get_name();
    return commands.empty() ? std::optional<std::string>(
                                  "say what to do: status, explain PORT, watch or record FILE")
                            : std::nullopt;
  }
  const bool option = left.front().starts_with("-");
  if (!option && !commands.empty())
    return commands.front()->get_name() + " takes no \"" + printable(left.front()) + "\"";
  if (option) {
    names.clear();
    for (const CLI::App* each :
         {static_cast<const CLI::App*>(&app),
          static_cast<const CLI::App*>(commands.empty() ? &app : commands.front())})
      for (const CLI::Option* known : each->get_options())
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  std::string text = std::string("unknown ") + (option ? "option" : "command") + " \"" +
                     printable(left.front()) + "\"";
  if (const auto meant = closest(left.front(), candidates))
    text += ": did you mean " + std::string(*meant) + "?";
  return text;
}

}  // namespace

std::string usage_words(const CLI::App& app, const CLI::ParseError& wrong) {
  const std::string said = printable(wrong.what());
  const auto commands = app.get_subcommands();
  const std::string command = commands.size() == 1 ? commands.front()->get_name() + ": " : "";
  constexpr std::string_view kMissing = " is required";
  if (dynamic_cast<const CLI::RequiredError*>(&wrong) != nullptr && said.ends_with(kMissing))
    return with_help(
        app, command + upper(said.substr(0, said.size() - kMissing.size())) + " is missing");
  constexpr std::string_view kUnreadable = "Could not convert: ";
  if (const auto equals = said.find(" = ");
      said.starts_with(kUnreadable) && equals != std::string::npos)
    return with_help(app, fmt::format("{}{}: \"{}\" is no number", command,
                                      said.substr(kUnreadable.size(), equals - kUnreadable.size()),
                                      said.substr(equals + 3)));
  if (const auto many = said.find(": At Most 1 required"); many != std::string::npos)
    return with_help(app, command + said.substr(0, many) + " is given more than once");
  return with_help(app, command + said);
}

std::optional<std::string> misused(CLI::App& app) {
  const auto wrong = misuse(app);
  return wrong ? std::optional(with_help(app, *wrong)) : std::nullopt;
}

}  // namespace linkhealth::cli
