#include "daemon/openssl_functions.h"

#include <cstring>
#include <string>

#include "base/loaded_library.h"

namespace linkhealth {

Result<OpensslFunctions> OpensslFunctions::load() {
  // libssl brings libcrypto, and a search in it goes on there (dlsym(3)).
  const std::string file = "libssl.so." + std::to_string(OPENSSL_VERSION_MAJOR);
  auto library = LoadedLibrary::open(file);
  if (!library) return library.error();
  OpensslFunctions functions;
#define LINKHEALTH_FIND(name) \
  if (!library->find(#name, functions.name)) return Error{file + " has no " #name};
  LINKHEALTH_OPENSSL_FUNCTIONS(LINKHEALTH_FIND)
#undef LINKHEALTH_FIND
  return functions;
}

const char* OpensslFunctions::why() const {
  const unsigned long error = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "no reason is given";
}

}  // namespace linkhealth
