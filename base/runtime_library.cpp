#include "base/runtime_library.h"

#include <dlfcn.h>

#include <cerrno>

namespace linkhealth {

RuntimeLibrary::RuntimeLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) missing_ = dlerror();
}

void* RuntimeLibrary::address_of(const char* function) {
  if (handle_ == nullptr) return nullptr;
  void* const address = dlsym(handle_, function);
  if (address == nullptr && missing_.empty()) missing_ = dlerror();
  return address;
}

Result<void> RuntimeLibrary::ready() const {
  if (missing_.empty()) return {};
  return Error{"cannot load " + missing_, ELIBACC};
}

}  // namespace linkhealth
