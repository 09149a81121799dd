// Faults of a file system and of the clock, for tests: preloaded into a process that works with a chat.
//   FAULT_PATH   only files whose path holds this text (default: store.db)
//   FAULT_CALL   sync | write        which kind of call fails
//   FAULT_NTH    which one of them, counted from 1
//   FAULT_ERRNO  with what
//   FAULT_BYTES  from so many bytes written on, every write fails with ENOSPC
//   FAULT_CLOCK  seconds that the clock is off; read anew at each look
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long calls;
static long written;

static int concerns(int file) {
  const char *wanted = getenv("FAULT_PATH");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strstr(path, wanted ? wanted : "store.db") != NULL;
}

static long number(const char *name) {
  const char *value = getenv(name);
  return value ? atol(value) : 0;
}

static int fails(const char *call, int file, size_t bytes) {
  const char *wanted = getenv("FAULT_CALL");
  long room = number("FAULT_BYTES");
  if ((!wanted && !room) || !concerns(file)) return 0;
  if (wanted && strcmp(wanted, call) == 0 && __sync_add_and_fetch(&calls, 1) == number("FAULT_NTH")) {
    errno = (int)number("FAULT_ERRNO");
    return 1;
  }
  if (room && bytes > 0) {
    if (__sync_add_and_fetch(&written, (long)bytes) > room) {
      errno = ENOSPC;
      return 1;
    }
  }
  return 0;
}

// Looked up once, before there are threads: a fork while another thread looks something up would leave the child waiting
// for the loader's lock, and whoever waits for the child with it.
#define NEXT(name)                     \
  if (!next_##name) look_up();         \
  __typeof__(name) *next = next_##name
#define LOOK_UP(name) next_##name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static void look_up(void);

static __typeof__(fsync) *next_fsync;
static __typeof__(fdatasync) *next_fdatasync;
static __typeof__(write) *next_write;
static __typeof__(pwrite) *next_pwrite;
static __typeof__(pwrite64) *next_pwrite64;
static __typeof__(gettimeofday) *next_gettimeofday;
static __typeof__(clock_gettime) *next_clock_gettime;

__attribute__((constructor)) static void look_up(void) {
  LOOK_UP(fsync);
  LOOK_UP(fdatasync);
  LOOK_UP(write);
  LOOK_UP(pwrite);
  LOOK_UP(pwrite64);
  LOOK_UP(gettimeofday);
  LOOK_UP(clock_gettime);
}

int fsync(int file) {
  NEXT(fsync);
  return fails("sync", file, 0) ? -1 : next(file);
}

int fdatasync(int file) {
  NEXT(fdatasync);
  return fails("sync", file, 0) ? -1 : next(file);
}

ssize_t write(int file, const void *data, size_t bytes) {
  NEXT(write);
  return fails("write", file, bytes) ? -1 : next(file, data, bytes);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
  NEXT(pwrite);
  return fails("write", file, bytes) ? -1 : next(file, data, bytes, at);
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t at) {
  NEXT(pwrite64);
  return fails("write", file, bytes) ? -1 : next(file, data, bytes, at);
}

int gettimeofday(struct timeval *time, void *zone) {
  NEXT(gettimeofday);
  int result = next(time, zone);
  time->tv_sec += number("FAULT_CLOCK");
  return result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  NEXT(clock_gettime);
  int result = next(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += number("FAULT_CLOCK");
  return result;
}
