#include "tests/support/no_new_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace linkhealth::testing {

namespace {
std::atomic<bool> refused{false};
}  // namespace

NoNewThreads::NoNewThreads() { refused = true; }
NoNewThreads::~NoNewThreads() { refused = false; }

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
           void* argument) {
  static const auto kNext = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return refused ? EAGAIN : kNext(thread, attributes, run, argument);
}

}  // namespace

}  // namespace linkhealth::testing

// Replaces libc's function, and a sanitizer's. RLIMIT_NPROC would have no effect for root.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  return linkhealth::testing::create(thread, attributes, run, argument);
}
