/* Loaded before the C library: makes one of the calls fail that bring files to the disk. Counted are writes to regular
 * files, fsync and rename, in the order in which they happen. The environment says what goes wrong:
 *
 *   M4N_FAULT_AT     the number of the call, from 1; 0: none, calls are only counted
 *   M4N_FAULT        ENOSPC: this call and all later writes fail, the disk is full
 *                    EIO: this call fails
 *                    short: of a write only half the bytes are written
 *                    kill: the process ends before the call
 *   M4N_FAULT_COUNT  a file that gets the number of calls at the end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static const char *fault(void) {
  const char *kind = getenv("M4N_FAULT");
  return kind != NULL ? kind : "";
}

/* Whether this call is to fail; errno says how. */
static int fails(int writes) {
  const char *text = getenv("M4N_FAULT_AT");
  const long at = text != NULL ? atol(text) : 0, now = atomic_fetch_add(&calls, 1) + 1;
  if (at == 0 || now < at) return 0;
  const int full = strcmp(fault(), "ENOSPC") == 0;
  if (now > at && !(full && writes)) return 0;
  if (strcmp(fault(), "kill") == 0) syscall(SYS_exit_group, 137);
  errno = full ? ENOSPC : EIO;
  return full || strcmp(fault(), "EIO") == 0;
}

static int is_regular(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (!is_regular(file)) return syscall(SYS_write, file, bytes, count);
  if (fails(1)) return -1;
  const char *text = getenv("M4N_FAULT_AT");
  if (strcmp(fault(), "short") == 0 && text != NULL && atol(text) == atomic_load(&calls) && count > 1) count /= 2;
  return syscall(SYS_write, file, bytes, count);
}

/* One after the other: writing less than all is allowed. */
ssize_t writev(int file, const struct iovec *parts, int count) {
  for (int p = 0; p < count; ++p)
    if (parts[p].iov_len > 0) return write(file, parts[p].iov_base, parts[p].iov_len);
  return 0;
}

int fsync(int file) { return fails(0) ? -1 : (int)syscall(SYS_fsync, file); }

int rename(const char *from, const char *to) {
  return fails(0) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("M4N_FAULT_COUNT");
  if (path == NULL) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld", atomic_load(&calls)),
            file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, text, length);
  close(file);
}
