// A value that seldom changes and that many hold: copies share it, so that a copy costs a pointer
// instead of, say, a dozen strings. To change it, give it another value.
#pragma once

#include <memory>
#include <utility>

namespace linkhealth {

/// Reads as a pointer that is never null: a fresh one is `T{}`. Copies may be used by several
/// threads.
template <typename T>
class Shared {
 public:
  Shared() = default;
  Shared(T value)  // NOLINT(google-explicit-constructor): used as the value that it is
      : value_(std::make_shared<const T>(std::move(value))) {}

  const T& operator*() const { return value_ ? *value_ : none(); }
  const T* operator->() const { return &**this; }
  operator const T&() const {
    return **this;
  }  // NOLINT(google-explicit-constructor): used as the value that it is
  /// A copy that is this holder's own, to be changed before anybody shares it.
  T& edit() {
    auto own = std::make_shared<T>(**this);
    value_ = own;
    return *own;
  }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || *a == *b;
  }

 private:
  static const T& none() {
    static const T kNone;
    return kNone;
  }

  std::shared_ptr<const T> value_;
};

}  // namespace linkhealth
