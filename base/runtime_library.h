// A library of the system that only one source needs. It is loaded when that source is first read:
// the program starts without it, and the source says that it is missing.
#pragma once

#include <string>

#include "base/result.h"

namespace linkhealth {

class RuntimeLibrary {
 public:
  /// "liblldpctl.so.4". It stays loaded: it may have threads and handlers of its own.
  explicit RuntimeLibrary(const char* file);

  /// `function` of the library; nullptr when there is none, and then ready() is an error.
  template <typename Function>
  Function find(const char* function) {
    return reinterpret_cast<Function>(address_of(function));
  }
  /// Whether the library and all that was asked of it are there. errnum: ELIBACC.
  [[nodiscard]] Result<void> ready() const;

 private:
  void* address_of(const char* function);

  void* handle_;
  std::string missing_;
};

}  // namespace linkhealth

/// A member with the name and the type of a function that the headers of the library declare, found
/// in the member `library` before it.
#define LINKHEALTH_RUNTIME_FUNCTION(name) \
  decltype(&::name) name = library.find<decltype(&::name)>(#name)
