// Converts structs from and to JSON with one list of fields each: `fields(value, visit)` calls
// visit("key", member) for every member in the order of the document. Both directions use the same
// list, so they cannot differ. Slow to compile: include it in .cpp files only.
//
//   JSON_FIELDS(Limits, low_alarm, high_alarm);          // if each key is the member's name
//   void fields(Is<Trend> auto& value, auto& visit) {    // if some differ
//     VISIT_ALWAYS(what, unit);                          // keys that readers may rely on
//     VISIT(level, limit);
//     visit("per_day", value.slope);
//   }
//
// Not written: nullopt, "", an empty list, a group whose empty() is true. When reading, null is the
// same as a missing key, and unknown keys are skipped.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/enum_names.h"
#include "base/text.h"
#include "base/time.h"
#include "model/counters.h"
#include "model/json/json.h"

/// LINKHEALTH_EACH(macro, a, b, …) is macro(a) macro(b) …, for at most 64 names. The preprocessor
/// has no recursion: each LINKHEALTH_EXPAND scans the text again.
#define LINKHEALTH_EACH(...) LINKHEALTH_EXPAND3(LINKHEALTH_NEXT(__VA_ARGS__))
#define LINKHEALTH_EXPAND3(...) \
  LINKHEALTH_EXPAND2(LINKHEALTH_EXPAND2(LINKHEALTH_EXPAND2(LINKHEALTH_EXPAND2(__VA_ARGS__))))
#define LINKHEALTH_EXPAND2(...) \
  LINKHEALTH_EXPAND1(LINKHEALTH_EXPAND1(LINKHEALTH_EXPAND1(LINKHEALTH_EXPAND1(__VA_ARGS__))))
#define LINKHEALTH_EXPAND1(...) \
  LINKHEALTH_EXPAND0(LINKHEALTH_EXPAND0(LINKHEALTH_EXPAND0(LINKHEALTH_EXPAND0(__VA_ARGS__))))
#define LINKHEALTH_EXPAND0(...) __VA_ARGS__
#define LINKHEALTH_NEXT(macro, first, ...) \
  macro(first) __VA_OPT__(LINKHEALTH_AGAIN LINKHEALTH_PARENTHESES(macro, __VA_ARGS__))
#define LINKHEALTH_AGAIN() LINKHEALTH_NEXT
#define LINKHEALTH_PARENTHESES ()
#define LINKHEALTH_VISIT(name) visit(#name, value.name);
#define LINKHEALTH_VISIT_ALWAYS(name) visit.always(#name, value.name);
#define VISIT(...) LINKHEALTH_EACH(LINKHEALTH_VISIT, __VA_ARGS__)
#define VISIT_ALWAYS(...) LINKHEALTH_EACH(LINKHEALTH_VISIT_ALWAYS, __VA_ARGS__)
#define JSON_FIELDS(Type, ...)                                          \
  void fields(Is<Type> auto& value, auto& visit) { VISIT(__VA_ARGS__) } \
  static_assert(true)

namespace linkhealth {

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <NamedEnum Enum>
bool parse_word(std::string_view text, Enum& out) {
  const auto value = parse_enum<Enum>(text);
  out = value.value_or(out);
  return value.has_value();
}

/// A group that is left out as a whole when its field list says so.
template <typename T>
concept MayBeEmpty = requires(const T& value) {
  { value.empty() } -> std::same_as<bool>;
};

/// Instants that RFC 3339 can write: the years 0000 to 9999.
inline bool is_writable(WallTime time) {
  using std::chrono::seconds;
  return time >= WallTime(seconds(-62'167'219'200)) && time < WallTime(seconds(253'402'300'800));
}

/// Collects the fields of one struct into an object.
class FieldsOut {
 public:
  template <typename T>
  void operator()(std::string_view name, const T& field) {
    if (!left_out(field)) always(name, field);
  }
  /// A key that readers may rely on.
  template <typename T>
  void always(std::string_view name, const T& field) {
    object_[name] = value(field);
  }
  OrderedJson object() && { return std::move(object_); }

  template <typename T>
  static OrderedJson value(const T& v) {
    if constexpr (std::same_as<T, bool> || std::unsigned_integral<T> || std::same_as<T, double>) {
      return v;
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      return std::string_view(v);
    } else if constexpr (requires { to_string(v); }) {
      return to_string(v);
    } else {
      FieldsOut visit;
      fields(v, visit);
      return std::move(visit).object();
    }
  }
  template <typename T>
  static OrderedJson value(const std::optional<T>& v) {
    return v ? value(*v) : OrderedJson();
  }
  template <typename T>
  static OrderedJson value(const std::vector<T>& list) {
    OrderedJson array = OrderedJson::array();
    for (const T& item : list) array.push_back(value(item));
    return array;
  }
  template <typename T>
  static OrderedJson value(const std::map<std::string, T>& map) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [name, item] : map) object[name] = value(item);
    return object;
  }
  template <typename Key, typename T>
  requires std::is_enum_v<Key>
  static OrderedJson value(const std::map<Key, T>& map) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [key, item] : map) object[to_string(key)] = value(item);
    return object;
  }
  static OrderedJson value(SteadyTime time) { return steady_seconds(time); }
  static OrderedJson value(WallTime time) { return format_rfc3339(time); }
  static OrderedJson value(const Counters& counters) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [id, number] : counters.known()) object[known_counters()[id].name] = number;
    for (const auto& [name, number] : counters.other()) object[name] = number;
    return object;
  }

 private:
  template <typename T>
  static bool left_out(const T& field) {
    if constexpr (MayBeEmpty<T>) {
      return field.empty();
    } else {
      return false;
    }
  }
  template <typename T>
  static bool left_out(const std::optional<T>& field) {
    return !field.has_value();
  }
  static bool left_out(const std::optional<double>& field) {
    return !field || !std::isfinite(*field);
  }
  template <typename T>
  static bool left_out(const std::map<std::string, T>& /*field*/) {
    return false;  // an empty map means "none", and readers may rely on the key
  }

  OrderedJson object_ = OrderedJson::object();
};

/// Reads structs. Keeps the first failure, with its place, and reads nothing more after it.
class FieldsIn {
 public:
  template <typename T>
  requires std::is_class_v<T>
  void value(const Json& from, T& out) {
    if (!expect(from.is_object(), "an object", from)) return;
    ObjectIn visit{*this, from};
    fields(out, visit);
  }
  void value(const Json& from, std::string& out) {
    if (expect(from.is_string(), "text in quotes", from)) out = from.get_ref<const std::string&>();
  }
  void value(const Json& from, bool& out) {
    if (expect(from.is_boolean(), "true or false", from)) out = from.get<bool>();
  }
  /// A number that is not finite is written as null.
  void value(const Json& from, double& out) {
    if (from.is_null())
      out = std::numeric_limits<double>::quiet_NaN();
    else if (expect(from.is_number(), "a number", from))
      out = from.get<double>();
  }
  template <std::unsigned_integral T>
  void value(const Json& from, T& out) {
    constexpr bool kIs64 = std::numeric_limits<T>::digits == 64;
    constexpr std::string_view kWhat =
        kIs64 ? "a whole number below 2^64" : "a whole number below 2^32";
    if (expect(
            from.is_number_unsigned() && from.get<std::uint64_t>() <= std::numeric_limits<T>::max(),
            kWhat, from))
      out = from.get<T>();
  }
  template <typename T>
  void value(const Json& from, std::optional<T>& out) {
    value(from, out.emplace());
  }
  template <typename T>
  void value(const Json& from, std::vector<T>& out) {
    if (!expect(from.is_array(), "an array", from)) return;
    out.clear();
    for (const Json& item : from) {
      value(item, out.emplace_back());
      if (failed()) return add_step(std::to_string(out.size()));
    }
  }
  template <typename T>
  void value(const Json& from, std::map<std::string, T>& out) {
    if (!expect(from.is_object(), "an object", from)) return;
    for (const auto& [key, item] : from.items()) at(key, item, out[key]);
  }
  /// Unknown keys are skipped: a newer writer may have more.
  template <typename Key, typename T>
  requires std::is_enum_v<Key>
  void value(const Json& from, std::map<Key, T>& out) {
    if (!expect(from.is_object(), "an object", from)) return;
    for (const auto& [word, item] : from.items())
      if (Key key{}; parse_word(word, key)) at(word, item, out[key]);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void value(const Json& from, T& out) {
    std::string text;
    value(from, text);
    if (!parse_word(text, out)) fail("unknown word \"" + text.substr(0, kMostShown) + "\"");
  }
  void value(const Json& from, SteadyTime& out) {
    constexpr double kLimit_s = 9e12;  // the largest value that from_seconds accepts
    double seconds = 0;
    value(from, seconds);
    if (std::abs(seconds) <= kLimit_s)
      out = steady_from_seconds(seconds);
    else
      fail("a time that is out of range");
  }
  void value(const Json& from, WallTime& out) {
    std::string text;
    value(from, text);
    const auto time = parse_rfc3339(text);
    if (time && is_writable(*time))
      out = *time;
    else
      fail("expected a time such as 2026-11-20T10:00:12Z");
  }
  void value(const Json& from, Counters& out) {
    if (!expect(from.is_object(), "an object", from)) return;
    for (const auto& [key, item] : from.items()) {
      std::uint64_t number = 0;
      if (item.is_null()) continue;
      at(key, item, number);
      if (!failed()) out.set(key, number);
    }
  }

  [[nodiscard]] bool failed() const { return !message_.empty(); }
  /// "ports > mlx5_0/1 > link > lanes: expected a whole number, found "four""
  [[nodiscard]] std::string error() const {
    return printable(path_.empty() ? message_ : path_ + ": " + message_);
  }

 private:
  struct ObjectIn {
    FieldsIn& in;
    const Json& object;

    template <typename T>
    void operator()(std::string_view name, T& field) {
      if (const Json& from = member(object, name); !from.is_null()) in.at(name, from, field);
    }
    template <typename T>
    void always(std::string_view name, T& field) {
      (*this)(name, field);
    }
  };

  /// Reads the value of one member.
  template <typename T>
  void at(std::string_view step, const Json& from, T& out) {
    if (failed()) return;
    value(from, out);
    if (failed()) add_step(step);
  }
  void add_step(std::string_view step) {
    step = step.substr(0, kMostShown);
    path_ = path_.empty() ? std::string(step) : fmt::format("{} > {}", step, path_);
  }
  void fail(std::string message) {
    if (!failed()) message_ = std::move(message);
  }
  bool expect(bool is_right, std::string_view what, const Json& found) {
    if (is_right) return true;
    const std::string shown =
        found.is_structured()
            ? fmt::format("an {}", found.type_name())
            : found.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kMostShown);
    fail(fmt::format("expected {}, found {}", what, shown));
    return false;
  }

  /// Longest part of a key or value shown in an error: a hostile document may have long ones.
  static constexpr std::size_t kMostShown = 60;

  std::string message_;
  std::string path_;
};

/// The document of one struct.
template <typename T>
std::string format_fields(const T& value) {
  return format_json(FieldsOut::value(value));
}

template <typename T>
Result<void> read_fields(const Json& json, T& out) {
  FieldsIn in;
  in.value(json, out);
  return in.failed() ? Error{in.error()} : Result<void>();
}

template <typename T>
Result<T> parse_fields(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  T out;
  if (auto read = read_fields(*json, out); !read) return read.error();
  return out;
}

}  // namespace linkhealth
