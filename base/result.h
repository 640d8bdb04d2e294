// A value, or the reason why there is none. The only error channel of the project: exceptions of
// libraries are caught where the library is called.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <variant>

namespace linkhealth {

/// Why an operation failed. `message` is for people; `errnum` is the errno, or 0; `kernel_words` is
/// the kernel's own message (netlink's extended ack: "bnxt_en: Transceiver module not inserted").
struct Error {
  std::string message;
  int errnum = 0;
  std::string kernel_words{};
};

/// "what: No such device"
inline Error errno_error(const std::string& what, int errnum) {
  return {what + ": " + std::strerror(errnum), errnum};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: ok().
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&state_); }
  [[nodiscard]] T& value() & { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }

  /// REQUIRES: !ok().
  [[nodiscard]] const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace linkhealth
