#include "config/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxNodes = 100000;

std::size_t line_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
}

/// Builds the tree from yaml-cpp's events. The only way to stop the parser is yaml-cpp's own
/// exception; parse_yaml() catches it.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// With `take_item`, the items of the list at the root are passed to it and not kept.
  explicit TreeBuilder(TakeItem take_item) : take_item_(std::move(take_item)) {}

  YamlNode root;
  std::optional<Error> item_error;  ///< from take_item

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add(node(mark, YamlNode::Kind::kNull));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "aliases (\"*name\") are not allowed here");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    YamlNode scalar = node(mark, YamlNode::Kind::kScalar);
    scalar.scalar = value;
    scalar.quoted = tag == "!";
    if (!scalar.quoted && (value.empty() || value == "~" || value == "null"))
      scalar.kind = YamlNode::Kind::kNull;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    open(mark, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    bool has_key = false;
    std::map<std::string, std::size_t> lines{};  ///< line of each key
  };

  YamlNode node(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (++nodes_ > kMaxNodes) throw YAML::ParserException(mark, "too many values");
    YamlNode made;
    made.kind = kind;
    made.line = line_of(mark);
    mark_ = mark;
    return made;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (open_.size() == kMaxDepth) throw YAML::ParserException(mark, "nested too deeply");
    if (wants_key()) throw YAML::ParserException(mark, "a key must be a word");
    open_.push_back({node(mark, kind), false});
  }

  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }

  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap &&
           !open_.back().has_key;
  }

  void add(YamlNode made) {
    if (open_.empty()) {
      root = std::move(made);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kList && open_.size() == 1 && take_item_) {
      give_away(made);
    } else if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(made));
    } else if (parent.has_key) {
      parent.node.members.back().value = std::move(made);
      parent.has_key = false;
    } else {
      add_key(parent, made);
    }
  }

  void add_key(Open& parent, const YamlNode& key) {
    if (key.kind == YamlNode::Kind::kNull) throw YAML::ParserException(mark_, "a key is missing");
    const auto [first, fresh] = parent.lines.emplace(key.scalar, key.line);
    if (!fresh)
      throw YAML::ParserException(mark_, fmt::format("duplicate key \"{}\", first on line {}",
                                                     printable(key.scalar), first->second));
    parent.node.members.push_back({key.scalar, key.line, {}});
    parent.has_key = true;
  }

  void give_away(const YamlNode& item) {
    nodes_ = 0;
    if (const auto taken = take_item_(item); !taken) {
      item_error = taken.error();
      throw YAML::ParserException(mark_, "");
    }
  }

  const TakeItem take_item_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  YAML::Mark mark_;
};

/// The line of the first byte that is not UTF-8, the only encoding that --dump-config can write.
std::optional<std::size_t> line_not_utf8(std::string_view text) {
  std::size_t line = 1;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return line;
    if (text.front() == '\n') ++line;
    text.remove_prefix(length);
  }
  return std::nullopt;
}

}  // namespace

Error error_at(std::string_view file_name, std::size_t line, std::string_view what) {
  return {fmt::format("{}:{}: {}", file_name, line, what)};
}

Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name,
                            const TakeItem& take_item) {
  if (const auto line = line_not_utf8(text)) return error_at(file_name, *line, "not valid UTF-8");
  TreeBuilder builder(take_item);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second{TakeItem()};
    if (parser.HandleNextDocument(second))
      return error_at(file_name, second.root.line,
                      "a second document (\"---\") is not allowed here");
    return std::move(builder.root);
  } catch (const YAML::Exception& wrong) {
    if (builder.item_error) return *builder.item_error;
    return error_at(file_name, line_of(wrong.mark), printable(wrong.msg));
  } catch (const std::exception& wrong) {
    return error_at(file_name, 1, printable(wrong.what()));
  }
}

Error YamlReader::unknown_key(const Member& member, Keys good) const {
  const auto near = closest(member.key, good);
  return wrong(member.line, fmt::format("unknown key \"{}\"{}", printable(member.key),
                                        near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
}

Result<void> YamlReader::each(const Member& map,
                              const std::function<Result<void>(const Member&)>& read) const {
  const YamlNode& node = map.value;
  if (node.kind != YamlNode::Kind::kMap && node.kind != YamlNode::Kind::kNull)
    return wrong(node.line,
                 fmt::format("\"{}\" must hold keys, each on a line of its own", map.key));
  for (const Member& member : node.members)
    if (auto done = read(member); !done) return done;
  return {};
}

Result<void> YamlReader::each_key(const Member& map, Keys good,
                                  const std::function<Result<void>(const Member&)>& read) const {
  return each(map, [&](const Member& member) -> Result<void> {
    if (std::ranges::find(good, member.key) == good.end()) return unknown_key(member, good);
    return read(member);
  });
}

Result<std::string> YamlReader::text(const Member& member) const {
  const YamlNode& node = member.value;
  if (node.kind == YamlNode::Kind::kNull) return std::string();
  if (node.kind != YamlNode::Kind::kScalar)
    return wrong(node.line, fmt::format("\"{}\" must be text", member.key));
  if (node.scalar.find('\0') != std::string::npos)
    return wrong(node.line, fmt::format("\"{}\" holds a NUL byte", member.key));
  return node.scalar;
}

Result<bool> YamlReader::flag(const Member& member) const {
  const YamlNode& node = member.value;
  if (node.kind == YamlNode::Kind::kScalar && !node.quoted &&
      (node.scalar == "true" || node.scalar == "false"))
    return node.scalar == "true";
  return wrong(node.line, fmt::format("\"{}\" must be true or false, not \"{}\"", member.key,
                                      printable(node.scalar).substr(0, 60)));
}

}  // namespace linkhealth
