#include "config/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "config/read_file.h"
#include "config/yaml_tree.h"

namespace linkhealth {

namespace {

constexpr std::array<std::string_view, 15> kColumns = {
    "node",   "port",  "peer_system", "peer_port", "speed_mbps", "lanes", "rail", "peer_rack",
    "peer_u", "cable", "exempt",      "row",       "rack",       "u",     "pod"};

std::optional<std::string> set_number(std::string_view name, std::string_view text,
                                      std::uint32_t max, std::optional<std::uint32_t>& out) {
  const auto value = parse_u64(text);
  if (!value || *value == 0 || *value > max)
    return fmt::format("\"{}\" must be a whole number from 1 to {}, not \"{}\"", name, max,
                       printable(text.substr(0, 60)));
  out = static_cast<std::uint32_t>(*value);
  return std::nullopt;
}

std::string* text_cell(PlanRow& row, std::string_view name) {
  ExpectedPort& expected = row.expected;
  const std::pair<std::string_view, std::string*> cells[] = {{"node", &row.node},
                                                             {"port", &row.port},
                                                             {"peer_system", &expected.peer_system},
                                                             {"peer_port", &expected.peer_port},
                                                             {"rail", &expected.rail},
                                                             {"peer_rack", &expected.peer_rack},
                                                             {"peer_u", &expected.peer_u},
                                                             {"cable", &expected.cable},
                                                             {"exempt", &row.exempt}};
  for (const auto& [column, cell] : cells)
    if (column == name) return cell;
  return nullptr;
}

/// The error in the cell; nullopt if it was accepted. REQUIRES: `name` is a column.
std::optional<std::string> set_cell(PlanRow& row, std::string_view name, std::string_view raw) {
  const std::string_view text = trim(raw);
  if (text.empty()) return std::nullopt;
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return fmt::format("\"{}\" holds a control character", name);
  if (name == "speed_mbps")
    return set_number(name, text, std::numeric_limits<std::uint32_t>::max(),
                      row.expected.speed_mbps);
  if (name == "lanes") return set_number(name, text, 64, row.expected.lanes);
  if (std::string* cell = text_cell(row, name))
    *cell = text;
  else
    row.site[std::string(name)] = text;
  return std::nullopt;
}

std::string unknown_column(std::string_view name) {
  const auto near = closest(name, kColumns);
  return fmt::format("unknown column \"{}\"{}", printable(name.substr(0, 60)),
                     near ? fmt::format(" (did you mean \"{}\"?)", *near) : "");
}

/// The rows so far, with checks for what a plan must not contain.
class Rows {
 public:
  explicit Rows(std::string_view file_name) : file_name_(file_name) {}
  Result<void> add(PlanRow row, std::size_t line) {
    if (row.port.empty()) return error_at(file_name_, line, "\"port\" is missing");
    const auto [first, fresh] = seen_.emplace(std::pair(row.node, row.port), line);
    if (!fresh)
      return error_at(
          file_name_, line,
          fmt::format("{} {} is already in line {}", row.node, row.port, first->second));
    rows_.push_back(std::move(row));
    return {};
  }
  [[nodiscard]] Error wrong(std::size_t line, const std::string& what) const {
    return error_at(file_name_, line, what);
  }
  std::vector<PlanRow> take() { return std::move(rows_); }

 private:
  std::string_view file_name_;
  std::vector<PlanRow> rows_;
  std::map<std::pair<std::string, std::string>, std::size_t> seen_;
};

/// The cells of one line. An unterminated quote is an error.
Result<std::vector<std::string>> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"')
        cells.back() += c;
      else if (i + 1 < line.size() && line[i + 1] == '"')
        cells.back() += line[++i];
      else
        quoted = false;
    } else if (c == '"' && trim(cells.back()).empty()) {
      cells.back().clear();
      quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (quoted) return Error{"a quote does not end in its line"};
  return cells;
}

std::string_view without_domain(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

Result<std::vector<PlanRow>> parse_plan_csv(std::string_view text, std::string_view file_name) {
  // byte order mark, as written by spreadsheets.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Rows rows(file_name);
  std::vector<std::string> columns;
  std::size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty() || trim(line).starts_with('#')) continue;
    const auto cells = csv_cells(line);
    if (!cells) return rows.wrong(number, cells.error().message);
    if (columns.empty()) {
      for (const std::string& cell : *cells) columns.emplace_back(trim(cell));
      for (const std::string& name : columns)
        if (std::ranges::find(kColumns, name) == kColumns.end())
          return rows.wrong(number, unknown_column(name));
      if (std::set(columns.begin(), columns.end()).size() != columns.size())
        return rows.wrong(number, "duplicate column");
      continue;
    }
    if (cells->size() > columns.size())
      return rows.wrong(number,
                        fmt::format("{} cells, but {} columns", cells->size(), columns.size()));
    PlanRow row;
    for (std::size_t i = 0; i < cells->size(); ++i)
      if (const auto what = set_cell(row, columns[i], (*cells)[i]))
        return rows.wrong(number, *what);
    if (auto added = rows.add(std::move(row), number); !added) return added.error();
  }
  if (columns.empty())
    return rows.wrong(1,
                      "a plan begins with a line of column names: node,port,peer_system,peer_port");
  return rows.take();
}

Result<std::vector<PlanRow>> parse_plan_yaml(std::string_view text, std::string_view file_name) {
  Rows rows(file_name);
  const auto root = parse_yaml(text, file_name, [&rows](const YamlNode& item) -> Result<void> {
    if (item.kind != YamlNode::Kind::kMap)
      return rows.wrong(item.line, "a row of a plan holds keys");
    PlanRow row;
    for (const YamlNode::Member& member : item.members) {
      if (std::ranges::find(kColumns, member.key) == kColumns.end())
        return rows.wrong(member.line, unknown_column(member.key));
      if (member.value.kind == YamlNode::Kind::kNull) continue;
      if (member.value.kind != YamlNode::Kind::kScalar)
        return rows.wrong(member.line, fmt::format("\"{}\" must be text or a number", member.key));
      if (const auto what = set_cell(row, member.key, member.value.scalar))
        return rows.wrong(member.line, *what);
    }
    return rows.add(std::move(row), item.line);
  });
  if (!root) return root.error();
  if (root->kind != YamlNode::Kind::kNull && root->kind != YamlNode::Kind::kList)
    return rows.wrong(root->line,
                      "a plan is a list: - {node: …, port: …, peer_system: …, peer_port: …}");
  return rows.take();
}

Result<std::vector<PlanRow>> load_plan_file(const std::string& path) {
  const auto text = read_small_file(path, kMaxPlanBytes);
  if (!text) return Error{"cannot read the cabling plan " + text.error().message};
  if (text->size() > kMaxPlanBytes)
    return error_at(path, 1, fmt::format("more than {} bytes: not a cabling plan", kMaxPlanBytes));
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  return yaml ? parse_plan_yaml(*text, path) : parse_plan_csv(*text, path);
}

void apply_plan(Config& config, std::span<const PlanRow> rows, std::string_view node) {
  for (const PlanRow& row : rows) {
    if (!row.node.empty() && row.node != node && without_domain(row.node) != without_domain(node))
      continue;
    for (const auto& [label, value] : row.site) config.site.try_emplace(label, value);
    if (row.exempt.empty())
      config.planned.emplace(row.port, row.expected);
    else
      config.planned_exempt.emplace(row.port, row.exempt);
  }
}

}  // namespace linkhealth
