// Makes calls number FAIL_AT to FAIL_AT + FAIL_COUNT - 1 of FAIL_CALL fail; prints the numbers of
// failed and of all calls at exit. The C library's own calls are not affected.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int calls, failed;
static int fails(const char* name) {
  const char* wanted = getenv("FAIL_CALL");
  if (!wanted || strcmp(wanted, name)) return 0;
  int now = ++calls, first = atoi(getenv("FAIL_AT"));
  if (now < first || now - first >= atoi(getenv("FAIL_COUNT"))) return 0;
  ++failed;
  errno = ENOMEM;
  return 1;
}
void* mmap(void* p, size_t n, int access, int flags, int file, off_t at) {
  return fails("mmap") ? (void*)-1 : (void*)syscall(SYS_mmap, p, n, access, flags, file, at);
}
int munmap(void* p, size_t n) { return fails("munmap") ? -1 : (int)syscall(SYS_munmap, p, n); }
int mprotect(void* p, size_t n, int access) {
  return fails("mprotect") ? -1 : (int)syscall(SYS_mprotect, p, n, access);
}
int madvise(void* p, size_t n, int advice) {
  return fails("madvise") ? -1 : (int)syscall(SYS_madvise, p, n, advice);
}
__attribute__((destructor)) static void report(void) {
  dprintf(2, "failed %d of %d\n", failed, calls);
}
