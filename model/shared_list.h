// A list that does not change once it is made, so that copies share it: a report's part that is the same step after
// step costs a pointer, in time and in memory.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace linkhealth {

template <typename T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> items)  // NOLINT(google-explicit-constructor): used as the list that it is
      : items_(items.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  [[nodiscard]] const std::vector<T>& items() const {
    static const std::vector<T> kNone;
    return items_ ? *items_ : kNone;
  }
  [[nodiscard]] auto begin() const { return items().begin(); }
  [[nodiscard]] auto end() const { return items().end(); }
  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] bool empty() const { return items_ == nullptr; }
  const T& operator[](std::size_t index) const { return items()[index]; }

 private:
  std::shared_ptr<const std::vector<T>> items_;  ///< none: empty
};

}  // namespace linkhealth
