/* To be preloaded. Kills its process, as kill -9 would, before a chosen call that changes files:
 * CUT_SHORT_AT is its number, from 1; each call is appended to CUT_SHORT_LOG. Has files whose path
 * holds FAIL_OPEN fail to open with the number FAIL_ERRNO. Has the closing of such a file that
 * holds FAIL_CLOSE fail with the same number, once it is closed. Stops its process, once, in front
 * of the opening of a file whose path holds STOP_AT_OPEN. Has logs whose path holds HOLD_OPEN not
 * open before there is a file HOLD_UNTIL. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long count;

static void next(const char* what) {
  const char *at = getenv("CUT_SHORT_AT"), *path = getenv("CUT_SHORT_LOG");
  if (path != NULL) {
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    char line[32];
    const int size = snprintf(line, sizeof line, "%s\n", what);
    if (fd < 0 || syscall(SYS_write, fd, line, size) != size) abort();
    syscall(SYS_close, fd);
  }
  if (at != NULL && ++count == atol(at)) raise(SIGKILL);
}

static int fails_to_open(const char* path) {
  static int stopped;
  const char *part = getenv("FAIL_OPEN"), *number = getenv("FAIL_ERRNO");
  const char* stop_at = getenv("STOP_AT_OPEN");
  if (stop_at != NULL && !stopped && strstr(path, stop_at) != NULL) {
    stopped = 1;
    raise(SIGSTOP);
  }
  if (part == NULL || number == NULL || strstr(path, part) == NULL) return 0;
  errno = atoi(number);
  return 1;
}

static void hold(const char* path) {
  const char *part = getenv("HOLD_OPEN"), *until = getenv("HOLD_UNTIL");
  if (part == NULL || until == NULL || strstr(path, part) == NULL) return;
  const size_t bytes = strlen(path);
  if (bytes < 5 || strcmp(path + bytes - 5, ".ulog") != 0) return;
  while (access(until, F_OK) != 0) usleep(1000);
}

static int fails_to_close(int fd) {
  const char *part = getenv("FAIL_CLOSE"), *number = getenv("FAIL_ERRNO");
  if (part == NULL || number == NULL) return 0;
  char name[32], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const ssize_t bytes = readlink(name, path, sizeof path - 1);
  if (bytes < 0) return 0;
  path[bytes] = '\0';
  return strstr(path, part) != NULL ? atoi(number) : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t bytes) {
  if (fd > 2) next("write");
  return REAL(write)(fd, data, bytes);
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  next("pwrite");
  return REAL(pwrite)(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  next("pwrite");
  return REAL(pwrite64)(fd, data, bytes, offset);
}

int ftruncate(int fd, off_t size) {
  next("ftruncate");
  return REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size) {
  next("ftruncate");
  return REAL(ftruncate64)(fd, size);
}

int rename(const char* from, const char* to) {
  next("rename");
  return REAL(rename)(from, to);
}

int close(int fd) {
  const int error = fails_to_close(fd);
  const int result = REAL(close)(fd);
  if (error == 0) return result;
  errno = error;
  return -1;
}

int unlink(const char* path) {
  next("unlink");
  return REAL(unlink)(path);
}

static mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails_to_open(path) ? -1 : REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails_to_open(path) ? -1 : REAL(open64)(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  hold(path);
  return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  hold(path);
  return REAL(openat64)(folder, path, flags, mode);
}
