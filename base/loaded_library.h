// A shared library that is loaded when it is needed and not before: what a node doesn't use costs
// it no memory.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace linkhealth {

class LoadedLibrary {
 public:
  /// An error names the file and says what the loader said.
  static Result<LoadedLibrary> open(const std::string& file) {
    // Never unloaded: such libraries leave threads' data and handlers behind.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) return Error{"can't load " + file + ": " + dlerror()};
    return LoadedLibrary(handle);
  }

  /// Puts the function `name` into `place`; false when the library has none.
  template <typename Function>
  bool find(const char* name, Function*& place) const {
    place = reinterpret_cast<Function*>(dlsym(handle_.get(), name));
    return place != nullptr;
  }

 private:
  struct Closer {
    void operator()(void* handle) const { dlclose(handle); }
  };
  explicit LoadedLibrary(void* handle) : handle_(handle) {}
  std::unique_ptr<void, Closer> handle_;
};

}  // namespace linkhealth
