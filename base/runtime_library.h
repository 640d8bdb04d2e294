// A system library that only one source needs. It is loaded when that source is first read: the
// program starts without it, and the source reports it as missing.
#pragma once

#include <string>

#include "base/result.h"

namespace linkhealth {

class RuntimeLibrary {
 public:
  /// `file`: "liblldpctl.so.4". The library is never unloaded: it may have its own threads and
  /// handlers.
  explicit RuntimeLibrary(const char* file);

  /// The library's `function`; nullptr if it has none, and then ready() is an error.
  template <typename Function>
  Function find(const char* function) {
    return reinterpret_cast<Function>(address_of(function));
  }
  /// Whether the library and all requested functions were found. errnum: ELIBACC.
  [[nodiscard]] Result<void> ready() const;

 private:
  void* address_of(const char* function);

  void* handle_;
  std::string missing_;
};

}  // namespace linkhealth

/// Declares a member with the name and type of a function from the library's headers. It is looked
/// up in the member `library`, which must be declared before it.
#define LINKHEALTH_RUNTIME_FUNCTION(name) \
  decltype(&::name) name = library.find<decltype(&::name)>(#name)
