// An optional value that lives on the heap: an empty one costs a pointer, not the room of what is
// not there. For the large groups of a sample that most samples don't have.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace linkhealth {

/// Copies are deep, as with std::optional, whose interface this is (as far as it is used).
template <typename T>
class Boxed {
 public:
  using value_type = T;

  Boxed() = default;
  Boxed(std::nullopt_t /*none*/) {}  // NOLINT(google-explicit-constructor)
  Boxed(const T& value)
      : value_(std::make_unique<T>(value)) {}  // NOLINT(google-explicit-constructor)
  Boxed(T&& value)
      : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Boxed(std::optional<T> value) {                         // NOLINT(google-explicit-constructor)
    if (value) emplace(*std::move(value));
  }
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&& other) noexcept = default;
  ~Boxed() = default;
  Boxed& operator=(const Boxed& other) {
    if (this == &other) return *this;
    if (value_ && other) {
      *value_ = *other;  // what the value holds on the heap is used again
    } else {
      value_ = other ? std::make_unique<T>(*other) : nullptr;
    }
    return *this;
  }
  Boxed& operator=(Boxed&& other) noexcept = default;

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  template <typename... Arguments>
  T& emplace(Arguments&&... arguments) {
    value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    return *value_;
  }
  void reset() { value_.reset(); }

  friend bool operator==(const Boxed& a, const Boxed& b) {
    return a && b ? *a == *b : a.has_value() == b.has_value();
  }
  friend bool operator==(const Boxed& a, std::nullopt_t /*none*/) { return !a; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace linkhealth
