// Writes JSON into a string: keys in the order of the calls, so the same value always gives the
// same bytes. Numbers are written with the fewest digits that read back to the same value; text is
// always valid UTF-8.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace linkhealth {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// The next value belongs to `name`.
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool flag);
  /// null when it is not finite: JSON has no word for it.
  void value(double number);
  void value(std::unsigned_integral auto number) { integer(number); }
  /// Whole milliseconds as seconds with three decimals: 12.000
  void seconds(std::int64_t milliseconds);
  /// A value that is JSON already.
  void raw(std::string_view json);

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void integer(std::uint64_t number);
  void quoted(std::string_view text);

  std::string& out_;
  bool comma_ = false;
};

}  // namespace linkhealth
