#include "cli/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/status_document.h"
#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth::cli {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto line : split(text, '\n')) lines.emplace_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Adds the help as the last line of the screen, after enough empty lines.
std::string with_help(std::vector<std::string> lines, std::size_t rows, const std::string& help,
                      const TextStyle& style) {
  lines.resize(std::max<std::size_t>(rows, 2) - 1);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text + paint_faint(help, style) + "\n";
}

std::string_view up_down(const TextStyle& style) { return style.ascii ? "up/down" : "↑↓"; }

}  // namespace

void WatchScreen::press(Key key) {
  const auto last = [](std::size_t size) { return size == 0 ? 0 : size - 1; };
  const auto moved = [&](std::size_t at, std::size_t end) {
    switch (key) {
      case Key::kUp:
        return at - (at > 0 ? 1 : 0);
      case Key::kDown:
        return std::min(at + 1, end);
      case Key::kPageUp:
        return at - std::min(at, page_);
      case Key::kPageDown:
        return std::min(at + page_, end);
      case Key::kHome:
        return std::size_t{0};
      case Key::kEnd:
        return end;
      default:
        return at;
    }
  };
  if (explains_) {
    if (key == Key::kBack && !only_one_) {
      explains_ = false;
      top_ = 0;
    } else {
      top_ = moved(top_, std::size_t{100'000});  // draw() limits it to the end
    }
    return;
  }
  if (order_.empty()) return;
  const auto at = std::ranges::find(order_, selected_);
  const auto index =
      at == order_.end() ? std::size_t{0} : static_cast<std::size_t>(at - order_.begin());
  selected_ = order_[moved(index, last(order_.size()))];
  if (key != Key::kEnter) return;
  explains_ = true;
  top_ = 0;
}

std::string WatchScreen::draw_port(const StatusDocument& status, const PortReport& port,
                                   const TextStyle& style, std::size_t rows) {
  auto lines = lines_of(explanation_of(status, port, {}, style));
  page_ = std::max<std::size_t>(rows, 2) - 1;
  top_ = std::min(top_, lines.size() - std::min(lines.size(), page_));
  const bool below = top_ + page_ < lines.size();
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(top_));
  return with_help(std::move(lines), rows,
                   fmt::format("  {} scroll{}{}   q quit", up_down(style), below ? " (more)" : "",
                               only_one_ ? "" : "   Esc back"),
                   style);
}

std::string WatchScreen::draw_list(const StatusDocument& status, const TextStyle& style,
                                   std::size_t rows) {
  const StatusLines list = status_lines(status.report, style,
                                        {.now = status.daemon.now,
                                         .watching = from_seconds(status.daemon.running_s),
                                         .sight = status.daemon.sight,
                                         .problems_only = problems_only_,
                                         .worst_first = true});
  order_.clear();
  for (const PortReport* port : list.ports) order_.push_back(port->port);
  auto lines = lines_of(list.head);
  if (list.ports.empty()) return with_help(std::move(lines), rows, "  q quit", style);
  lines.emplace_back();
  lines.push_back(list.titles);
  auto at = std::ranges::find(order_, selected_);
  if (at == order_.end()) at = order_.begin();
  selected_ = *at;
  const auto index = static_cast<std::size_t>(at - order_.begin());
  const std::size_t room = rows > lines.size() + 2 ? rows - lines.size() - 1 : 1;
  top_ = std::min(top_, index);
  const auto height = [&](std::size_t first) {  // of the rows from `first` to the selected one
    std::size_t sum = 0;
    for (std::size_t i = first; i <= index; ++i) sum += list.rows[i].size();
    return sum;
  };
  while (top_ < index && height(top_) > room) ++top_;
  const std::size_t begun = lines.size();
  page_ = 0;
  for (std::size_t i = top_; i < list.rows.size() && lines.size() - begun < room; ++i, ++page_)
    for (std::size_t j = 0; j < list.rows[i].size() && lines.size() - begun < room; ++j) {
      std::string line = list.rows[i][j];
      if (i == index && j == 0 && line.starts_with("  ")) line.replace(0, 2, "> ");
      lines.push_back(std::move(line));
    }
  page_ = std::max<std::size_t>(page_, 1);
  return with_help(std::move(lines), rows,
                   fmt::format("  {} select   Enter explain   q quit   {} of {}", up_down(style),
                               index + 1, order_.size()),
                   style);
}

std::string WatchScreen::draw(const StatusDocument& status, const TextStyle& style,
                              std::size_t rows) {
  if (explains_) {
    const auto port = std::ranges::find(status.report.ports, selected_, &PortReport::port);
    if (port != status.report.ports.end()) return draw_port(status, *port, style, rows);
    explains_ = only_one_;
    if (only_one_)
      return with_help({fmt::format("{}: this port disappeared", selected_)}, rows, "  q quit",
                       style);
  }
  return draw_list(status, style, rows);
}

namespace {

/// Without a terminal: the text or the JSON of each refresh.
std::string plain_frame(const StatusDocument& status, const WatchOptions& options) {
  if (!options.port.empty())
    return explanation_of(status, port_named(status.report, options.port), {.json = options.json},
                          output_style());
  return options.json ? report_json(status.report) + "\n"
                      : status_of(status, {.problems = options.problems}, output_style());
}

int watch_plainly(const Client& client, const WatchOptions& options, StatusDocument status) {
  LiveScreen screen(false);
  screen.draw(plain_frame(status, options));
  for (std::uint64_t shown = 1; options.frames == 0 || shown < options.frames; ++shown) {
    if (!screen.wait(Milliseconds(1'000)) || std::ferror(stdout) != 0) break;
    try {
      screen.draw(plain_frame(fetch_status(client), options));
    } catch (const CommandError& error) {  // the daemon may come back: continue
      if (options.json)
        complain(error.what());
      else
        screen.draw(fmt::format("linkhealth: {}\n", error.what()));
    }
  }
  return kOk;
}

int watch_screen(const Client& client, const Clock& clock, const WatchOptions& options,
                 StatusDocument status) {
  const PortKey port = options.port.empty() ? "" : port_named(status.report, options.port).port;
  WatchScreen view(port, options.problems);
  LiveScreen screen(true);
  std::string error;
  SteadyTime due = clock.steady() + Milliseconds(1'000);
  for (std::uint64_t shown = 1;; ++shown) {
    const std::string frame = view.draw(status, output_style(), output_rows());
    screen.draw(error.empty() ? frame : fmt::format("linkhealth: {}\n", error));
    if ((options.frames != 0 && shown >= options.frames) || std::ferror(stdout) != 0) break;
    const auto left = std::max(due - clock.steady(), Milliseconds(0));
    const Key key = screen.wait_for_key(left);
    if (key == Key::kQuit) break;
    view.press(key);
    if (clock.steady() < due) continue;  // a key: the same report, drawn at once
    due = clock.steady() + Milliseconds(1'000);
    try {
      status = fetch_status(client);
      error.clear();
    } catch (const CommandError& lost) {  // the daemon may come back: continue
      error = lost.what();
    }
  }
  return kOk;
}

}  // namespace

int run_watch(const Context& context, const WatchOptions& options) {
  // Before the alternate screen, where an error message would disappear.
  StatusDocument status = fetch_status(context.client);
  return output_is_terminal() && !options.json
             ? watch_screen(context.client, context.clock, options, std::move(status))
             : watch_plainly(context.client, options, std::move(status));
}

}  // namespace linkhealth::cli
