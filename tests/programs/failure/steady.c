// Allocates before and after a fault, which its arguments name.
//
// It prints how many blocks before and after were in groups, how many were refused, and its peak of
// resident memory. It ends with a message and status 3 if a block is damaged or too small, or if
// errno is wrong: it must be ENOMEM after a refusal, and stay unchanged otherwise. All
// sizes are multiples of 16: a block of the C library never has exactly that many usable bytes, a
// block of a group always has.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { most = 2000000, mark = 4321 };
static unsigned char* blocks[most];
static atomic_long grouped, refused;
static int half;

static void die(const char* what) {
  write(2, what, strlen(what));
  write(2, "\n", 1);
  _exit(3);
}
static size_t size_of(int i) { return 16 * (size_t)(1 + i * 7 % 12); }

static unsigned char* made(unsigned char* p, int i) {
  size_t n = size_of(i);
  if (!p) {
    if (errno != ENOMEM) die("refused, but errno is not ENOMEM");
    ++refused;
    return NULL;
  }
  size_t usable = malloc_usable_size(p);
  if (usable < n) die("a block is too small");
  if (usable == n) {
    ++grouped;
    if (errno != mark) die("a grouped allocation changed errno");
  }
  return memset(p, i, n);
}
static unsigned char* make(int i) {
  unsigned char *p, *q;
  errno = mark;
  if (i % 3 == 0) return made(malloc(size_of(i)), i);
  if (i % 3 == 1) {
    p = calloc(2, size_of(i) / 2);
    for (size_t k = 0; p && k < size_of(i); ++k)
      if (p[k]) die("calloc's memory is not zero");
    return made(p, i);
  }
  q = malloc(16);
  if (!q) return made(q, i);
  q[0] = 1;
  p = realloc(q, size_of(i));
  if (!p) free(q);
  return made(p, i);
}
static void fill(int from, int to) {
  for (int i = from; i < to; ++i) blocks[i] = make(i);
}
static void drop(int from, int to) {
  for (int i = from; i < to; ++i) {
    for (size_t k = 0; blocks[i] && k < size_of(i); ++k)
      if (blocks[i][k] != (unsigned char)i) die("a block is damaged");
    errno = mark;
    free(blocks[i]);
    if (errno != mark) die("free changed errno");
    blocks[i] = NULL;
  }
}
static void* fill_first_half(void* unused) {
  fill(0, half);
  return unused;
}

static int call_number(const char* name) {
  return !strcmp(name, "mmap")       ? SYS_mmap
         : !strcmp(name, "munmap")   ? SYS_munmap
         : !strcmp(name, "mprotect") ? SYS_mprotect
         : !strcmp(name, "madvise")  ? SYS_madvise
         : !strcmp(name, "mremap")   ? SYS_mremap
                                     : -1;
}
static void install(struct sock_filter* code, int length) {
  struct sock_fprog filter = {(unsigned short)length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    die("no filter can be installed");
}
static const struct sock_filter load_number =
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
static void deny(int error, const char* names) {
  struct sock_filter code[20] = {load_number};
  int n = 1;
  char copy[100];
  snprintf(copy, sizeof copy, "%s", names);
  for (char* name = strtok(copy, "+"); name; name = strtok(NULL, "+")) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call_number(name), 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  install(code, n);
  snprintf(copy, sizeof copy, "%s", names);
  errno = 0;
  if (syscall(call_number(strtok(copy, "+")), 0, 0, 0, 0, 0, 0) == 0 || errno != error)
    die("the filter does nothing");
}
static void kill_other_calls(void) {
  static const int allowed[] = {SYS_mmap, SYS_munmap, SYS_mprotect,  SYS_madvise,
                                SYS_brk,  SYS_write,  SYS_exit_group};
  struct sock_filter code[20] = {load_number};
  int n = 1;
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; ++i) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  install(code, n);
}
// A size that the kernel reports for this program, in KiB; -1 if it does not. (Not getrusage: its
// peak may be from before an exec.)
static long used(const char* field) {
  static char text[8192];
  int file = open("/proc/self/status", O_RDONLY);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[length < 0 ? 0 : length] = 0;
  const char* found = strstr(text, field);
  return found ? strtol(found + strlen(field), NULL, 10) : -1;
}
static void limit(const char* what, rlim_t bytes) {
  int kind = !strcmp(what, "data") ? RLIMIT_DATA : RLIMIT_AS;
  struct rlimit both;
  getrlimit(kind, &both);
  both.rlim_cur = bytes;
  if (setrlimit(kind, &both)) die("no limit can be set");
}
static void refuse(int on) {
  int* switched = dlsym(RTLD_DEFAULT, "refuse_memory");
  if (!switched) die("no allocator that refuses");
  *switched = on;
}
// The number of blocks in mappings for which huge pages were requested.
static int blocks_in_huge_mappings(int count) {
  static char line[512];
  unsigned long from = 0, to = 0, first, last;
  int found = 0;
  FILE* file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
      from = first;
      to = last;
    }
    if (strncmp(line, "VmFlags:", 8) || !strstr(line, " hg")) continue;
    for (int i = 0; i < count; ++i)
      found += (unsigned long)blocks[i] >= from && (unsigned long)blocks[i] < to;
  }
  fclose(file);
  return found;
}
static int huge = -1, ends_at_once = 0;
static void mischief(char** word, int count) {
  for (; *word; ++word) {
    const char* plan = getenv("HALO_PLAN");
    if (!strcmp(*word, "deny")) {
      deny(atoi(word[1]), word[2]);
      word += 2;
    } else if (!strcmp(*word, "kill")) {
      kill_other_calls();
      ends_at_once = 1;
    } else if (!strcmp(*word, "refuse"))
      refuse(1);
    else if (!strcmp(*word, "unlink")) {
      if (unlink(plan)) die("no plan to unlink");
    } else if (!strcmp(*word, "replace")) {
      if (rename(*++word, plan)) die("no plan to replace");
    } else if (!strcmp(*word, "load")) {
      if (!dlopen("libm.so.6", RTLD_NOW)) die("no library");
    } else if (!strcmp(*word, "limit")) {
      long now = used(!strcmp(word[1], "data") ? "VmData:" : "VmSize:");
      limit(word[1], ((rlim_t)now << 10) + ((rlim_t)atoi(word[2]) << 20));
      word += 2;
    } else if (!strcmp(*word, "cap")) {
      limit(word[1], (rlim_t)atoi(word[2]) << 20);
      word += 2;
    } else if (!strcmp(*word, "huge"))
      huge = 0;
    else
      die(*word);
  }
}
int main(int argc, char** argv) {
  int count = atoi(argv[1]);
  static pthread_t thread;
  half = count / 2;
  if (pthread_create(&thread, NULL, fill_first_half, NULL) == 0) {
    fill(half, count);
    pthread_join(thread, NULL);
  } else {
    fill(0, count);
  }
  drop(0, half);
  long before = grouped;
  mischief(argv + 2, count);
  fill(count, 3 * count);
  if (huge == 0) huge = blocks_in_huge_mappings(3 * count);
  drop(half, 3 * count);
  long peak = ends_at_once ? -1 : used("VmHWM:");
  char line[200];
  int n = snprintf(line, sizeof line, "fine %ld %ld %ld %ld %d\n", before, grouped - before,
                   refused, peak, huge);
  write(1, line, (size_t)n);
  if (ends_at_once) _exit(0);
  if (dlsym(RTLD_DEFAULT, "refuse_memory")) refuse(0);
}
