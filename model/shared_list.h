// A list that does not change once it is made, so that copies share it: a report's part that is the
// same step after step costs a pointer, in time and in memory.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "model/shared.h"

namespace linkhealth {

template <typename T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(
      std::vector<T> items) {  // NOLINT(google-explicit-constructor): used as the list that it is
    if (!items.empty()) items_ = std::move(items);
  }
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  [[nodiscard]] const std::vector<T>& items() const { return *items_; }
  [[nodiscard]] auto begin() const { return items().begin(); }
  [[nodiscard]] auto end() const { return items().end(); }
  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] bool empty() const { return items().empty(); }
  const T& operator[](std::size_t index) const { return items()[index]; }

 private:
  Shared<std::vector<T>> items_;
};

}  // namespace linkhealth
