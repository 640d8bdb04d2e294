// What would ask for glibc 2.29 or 2.30, asked of an older one where that is all there is: the programs then start from glibc 2.28
// on, which RHEL 8 has. Linked with --wrap (toolchain.cmake), so that the archives' calls come here too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#ifdef __x86_64__
#define FIRST "GLIBC_2.2.5"
#else
#define FIRST "GLIBC_2.17"
#endif

// The same functions; those of 2.29 only leave out an old way to report errors.
#define OLDER(name, parameters, arguments)                       \
  __asm__(".symver older_" #name "," #name "@" FIRST);           \
  double older_##name parameters;                                \
  double __wrap_##name parameters { return older_##name arguments; }
OLDER(exp, (double x), (x))
OLDER(log, (double x), (x))
OLDER(pow, (double x, double y), (x, y))

// libstdc++'s wait_for(): by the monotonic clock where glibc can; otherwise as libstdc++ did before, by the clock on the wall.
typedef int ClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  static ClockWait* known;
  static int asked;
  if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
    ClockWait* const found = (ClockWait*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  }
  ClockWait* const wait = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (wait != NULL) return wait(condition, mutex, clock, until);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += until->tv_sec - now.tv_sec;
  wall.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) {
    wall.tv_nsec += 1000000000;
    --wall.tv_sec;
  } else if (wall.tv_nsec >= 1000000000) {
    wall.tv_nsec -= 1000000000;
    ++wall.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &wall);
}
