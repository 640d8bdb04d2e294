// Structs from and to JSON by one list of fields each: `fields(value, visit)` calls visit("key",
// member) for every member in the order of the document. Both directions use the same list, so they
// cannot differ. Heavy: include it in .cpp files only.
//
// Left out when written: nullopt, "", an empty list, a group whose empty() is true. Read as left
// out: a missing key and null. Unknown keys are skipped.
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

#include "base/text.h"
#include "base/time.h"
#include "model/counters.h"
#include "model/json/json.h"

namespace linkhealth {

template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// A group that its field list may leave out as a whole.
template <typename T>
concept MayBeEmpty = requires(const T& value) {
  { value.empty() } -> std::same_as<bool>;
};

/// Instants that RFC 3339 can write: the years 0000 to 9999.
inline bool is_writable(WallTime time) {
  using std::chrono::sys_days;
  using std::chrono::year;
  return time >= sys_days(year(0) / 1 / 1) && time < sys_days(year(10000) / 1 / 1);
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

/// Reads structs. The first failure stays, with its place.
class FieldsIn {
 public:
  template <typename T>
  requires std::is_class_v<T>
  bool value(const Json& from, T& out) {
    if (!from.is_object()) return expected("an object", from);
    ObjectIn visit{*this, from};
    fields(out, visit);
    return !failed_;
  }
  bool value(const Json& from, std::string& out) {
    if (!from.is_string()) return expected("text in quotes", from);
    out = from.get_ref<const std::string&>();
    return true;
  }
  bool value(const Json& from, bool& out) {
    if (!from.is_boolean()) return expected("true or false", from);
    out = from.get<bool>();
    return true;
  }
  /// A number that is not finite is written as null.
  bool value(const Json& from, double& out) {
    if (from.is_null()) {
      out = std::numeric_limits<double>::quiet_NaN();
      return true;
    }
    if (!from.is_number()) return expected("a number", from);
    out = from.get<double>();
    return true;
  }
  bool value(const Json& from, std::uint64_t& out) {
    if (!from.is_number_unsigned()) return expected("a whole number below 2^64", from);
    out = from.get<std::uint64_t>();
    return true;
  }
  bool value(const Json& from, std::uint32_t& out) {
    if (!from.is_number_unsigned() ||
        from.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      return expected("a whole number below 2^32", from);
    out = from.get<std::uint32_t>();
    return true;
  }
  template <typename T>
  bool value(const Json& from, std::optional<T>& out) {
    return value(from, out.emplace());
  }
  template <typename T>
  bool value(const Json& from, std::vector<T>& out) {
    if (!from.is_array()) return expected("an array", from);
    out.clear();
    for (const Json& item : from)
      if (!value(item, out.emplace_back())) return failed_at(std::to_string(out.size()));
    return true;
  }
  template <typename T>
  bool value(const Json& from, std::map<std::string, T>& out) {
    if (!from.is_object()) return expected("an object", from);
    for (const auto& [key, item] : from.items())
      if (!value(item, out[key])) return failed_at(key);
    return true;
  }
  /// Keys that are not known are skipped: a newer writer may have more.
  template <typename Key, typename T>
  requires std::is_enum_v<Key>
  bool value(const Json& from, std::map<Key, T>& out) {
    if (!from.is_object()) return expected("an object", from);
    for (const auto& [word, item] : from.items())
      if (Key key{}; parse_word(word, key) && !value(item, out[key])) return failed_at(word);
    return true;
  }
  template <typename T>
  requires std::is_enum_v<T>
  bool value(const Json& from, T& out) {
    std::string text;
    return value(from, text) &&
           (parse_word(text, out) || fail("unknown word \"" + text.substr(0, kMostShown) + "\""));
  }
  bool value(const Json& from, SteadyTime& out) {
    constexpr double kLimit_s = 9e12;  // what from_seconds can hold
    double seconds = 0;
    if (!value(from, seconds)) return false;
    if (std::abs(seconds) > kLimit_s) return fail("a time that is out of range");
    out = steady_from_seconds(seconds);
    return true;
  }
  bool value(const Json& from, WallTime& out) {
    std::string text;
    if (!value(from, text)) return false;
    const auto time = parse_rfc3339(text);
    if (!time || !is_writable(*time)) return fail("expected a time such as 2026-11-20T10:00:12Z");
    out = *time;
    return true;
  }
  bool value(const Json& from, Counters& out) {
    if (!from.is_object()) return expected("an object", from);
    for (const auto& [key, item] : from.items()) {
      std::uint64_t number = 0;
      if (item.is_null()) continue;
      if (!value(item, number)) return failed_at(key);
      out.set(key, number);
    }
    return true;
  }

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
      const Json& from = member(object, name);
      if (!in.failed_ && !from.is_null() && !in.value(from, field)) in.failed_at(name);
    }
    template <typename T>
    void always(std::string_view name, T& field) {
      (*this)(name, field);
    }
  };

  bool fail(std::string message) {
    failed_ = true;
    message_ = std::move(message);
    return false;
  }
  bool expected(std::string_view what, const Json& found) {
    const std::string shown =
        found.is_structured()
            ? fmt::format("an {}", found.type_name())
            : found.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kMostShown);
    return fail(fmt::format("expected {}, found {}", what, shown));
  }
  bool failed_at(std::string_view step) {
    step = step.substr(0, kMostShown);
    path_ = path_.empty() ? std::string(step) : fmt::format("{} > {}", step, path_);
    return false;
  }

  /// Of a key or a value, in an error: a hostile document may have long ones.
  static constexpr std::size_t kMostShown = 60;

  bool failed_ = false;
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
  if (!in.value(json, out)) return Error{in.error()};
  return {};
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
