// Structs from and to JSON by one list of fields each: `fields(value, visit)` calls visit("key",
// member) for every member in the order of the document, and both directions follow from it, so
// that they cannot differ. Heavy: include it in .cpp files only.
//
// What is left out when it is written: nullopt, "", an empty list, a group that says empty(). What
// reads as left out: a missing key and null. Unknown keys are skipped.
#pragma once

#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/time.h"
#include "model/boxed.h"
#include "model/counters.h"
#include "model/json_reader.h"
#include "model/json_writer.h"
#include "model/shared.h"
#include "model/shared_list.h"

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

/// Writes one struct.
class FieldsOut {
 public:
  explicit FieldsOut(JsonWriter& out) : out_(out) {}

  template <typename T>
  void operator()(std::string_view name, const T& field) {
    if (!left_out(field)) always(name, field);
  }
  /// A key that readers may rely on.
  template <typename T>
  void always(std::string_view name, const T& field) {
    out_.key(name);
    value(field);
  }

  template <typename T>
  void value(const T& v) {
    if constexpr (std::same_as<T, bool> || std::unsigned_integral<T> || std::same_as<T, double> ||
                  std::convertible_to<const T&, std::string_view>) {
      out_.value(v);
    } else if constexpr (requires { to_string(v); }) {
      out_.value(to_string(v));
    } else {
      out_.begin_object();
      fields(v, *this);
      out_.end_object();
    }
  }
  template <typename T>
  void value(const std::optional<T>& v) {
    value(*v);
  }
  template <typename T>
  void value(const Boxed<T>& v) {
    value(*v);
  }
  template <typename T>
  void value(const Shared<T>& v) {
    value(*v);
  }
  template <typename T>
  void value(const std::vector<T>& list) {
    out_.begin_array();
    for (const T& item : list) value(item);
    out_.end_array();
  }
  template <typename T>
  void value(const SharedList<T>& list) {
    value(list.items());
  }
  template <typename T>
  void value(const std::map<std::string, T>& map) {
    out_.begin_object();
    for (const auto& [name, item] : map) {
      out_.key(name);
      value(item);
    }
    out_.end_object();
  }
  void value(SteadyTime time) { out_.seconds(time.time_since_epoch().count()); }
  void value(WallTime time) { out_.value(format_rfc3339(time)); }
  void value(const Counters& counters) {
    out_.begin_object();
    for (const auto& [id, number] : counters.known()) {
      out_.key(known_counters()[id].name);
      out_.value(number);
    }
    for (const auto& [name, number] : counters.other()) {
      out_.key(name);
      out_.value(number);
    }
    out_.end_object();
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
  template <typename T>
  static bool left_out(const Boxed<T>& field) {
    return !field.has_value();
  }
  static bool left_out(const std::optional<double>& field) {
    return !field || !std::isfinite(*field);
  }
  template <typename T>
  static bool left_out(const std::map<std::string, T>& /*field*/) {
    return false;  // an empty map says "none", and readers may rely on the key
  }

  JsonWriter& out_;
};

/// Reads one struct.
class FieldsIn {
 public:
  explicit FieldsIn(JsonReader& in) : in_(in) {}

  template <typename T>
  requires std::is_class_v<T>
  bool value(T& out) {
    return in_.object([this, &out](std::string_view key) {
      Pick pick{*this, key};
      fields(out, pick);
      return pick.found ? pick.ok : in_.skip();
    });
  }
  bool value(std::string& out) { return in_.read(out); }
  bool value(bool& out) { return in_.read(out); }
  bool value(double& out) { return in_.read(out); }
  bool value(std::uint32_t& out) { return in_.read(out); }
  bool value(std::uint64_t& out) { return in_.read(out); }
  template <typename T>
  bool value(std::optional<T>& out) {
    return value(out.emplace());
  }
  template <typename T>
  bool value(Boxed<T>& out) {
    return value(out.emplace());
  }
  template <typename T>
  bool value(Shared<T>& out) {
    return value(out.edit());
  }
  template <typename T>
  bool value(std::vector<T>& out) {
    out.clear();
    return in_.array([this, &out] { return value(out.emplace_back()); });
  }
  template <typename T>
  bool value(SharedList<T>& out) {
    std::vector<T> items;
    const bool ok = value(items);
    out = std::move(items);
    return ok;
  }
  template <typename T>
  bool value(std::map<std::string, T>& out) {
    return in_.object([this, &out](std::string_view key) {
      return value(out.emplace_hint(out.end(), std::string(key), T())->second);
    });
  }
  template <typename T>
  requires std::is_enum_v<T>
  bool value(T& out) {
    std::string text;
    return in_.read(text) &&
           (parse_word(text, out) || in_.fail("a word that this field does not have"));
  }
  bool value(SteadyTime& out) {
    constexpr double kLimit_s = 9e12;  // what from_seconds can hold
    double seconds = 0;
    if (!in_.read(seconds)) return false;
    if (std::abs(seconds) > kLimit_s) return in_.fail("a time that is out of range");
    out = steady_from_seconds(seconds);
    return true;
  }
  bool value(WallTime& out) {
    std::string text;
    if (!in_.read(text)) return false;
    const auto time = parse_rfc3339(text);
    if (!time || !is_writable(*time))
      return in_.fail("expected a time such as 2026-11-20T10:00:12Z");
    out = *time;
    return true;
  }
  bool value(Counters& out) {
    return in_.object([this, &out](std::string_view key) {
      std::uint64_t number = 0;
      if (in_.take_null()) return true;
      if (!in_.read(number)) return false;
      out.set(key, number);
      return true;
    });
  }

 private:
  /// Goes through the field list for the one field that is called `key`.
  struct Pick {
    FieldsIn& from;
    std::string_view key;
    bool found = false;
    bool ok = true;

    template <typename T>
    void operator()(std::string_view name, T& field) {
      if (found || name != key) return;
      found = true;
      ok = from.in_.take_null() || from.value(field);
    }
    template <typename T>
    void always(std::string_view name, T& field) {
      (*this)(name, field);
    }
  };

  JsonReader& in_;
};

}  // namespace linkhealth
