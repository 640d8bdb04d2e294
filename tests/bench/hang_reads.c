/* LD_PRELOAD: a read of a file whose path contains $HANG never comes back, as one of a device whose firmware does not
 * answer: by pread(), or in a list of reads (io_submit, which has no function of its own in libc). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_for_ever(int fd) {
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  const char* hang = getenv("HANG");
  if (length > 0 && hang) {
    path[length] = 0;
    while (strstr(path, hang)) pause();
  }
}

ssize_t pread64(int fd, void* buffer, size_t size, off64_t offset) {
  static ssize_t (*next)(int, void*, size_t, off64_t);
  if (!next) next = (ssize_t(*)(int, void*, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
  wait_for_ever(fd);
  return next(fd, buffer, size, offset);
}

ssize_t pread(int fd, void* buffer, size_t size, off_t offset) { return pread64(fd, buffer, size, offset); }

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_io_submit)
    for (long i = 0; i < a[1]; ++i) wait_for_ever((int)((struct iocb**)a[2])[i]->aio_fildes);
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
