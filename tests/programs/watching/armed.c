// Keeps large objects while every page of them is armed each millisecond, does one thing, and
// checks all objects before and after: armed WHAT [ARGUMENT].
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 8, BYTES = 400000, PAGE = 4096, TICKS = 8 };
static unsigned char* blocks[BLOCKS];

static void die(const char* what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  abort();
}

static unsigned char* make_large(size_t bytes) { return malloc(bytes); }

static unsigned char value(int block, int at) { return (unsigned char)(block * 31 + at / 64); }

static void fill(void) {
  for (int block = 0; block < BLOCKS; ++block)
    for (int at = 0; at < BYTES; ++at) blocks[block][at] = value(block, at);
}

static int are_intact(void) {
  for (int block = 0; block < BLOCKS; ++block)
    for (int at = 0; at < BYTES; ++at)
      if (blocks[block][at] != value(block, at)) return 0;
  return 1;
}

// Until all pages are armed again.
static void wait_ticks(void) { usleep(TICKS * 1000); }

static void check(const char* when) {
  if (!are_intact()) die(when);
  wait_ticks();
}

// The whole pages of a block.
static unsigned char* pages_of(int block) {
  return (unsigned char*)(((size_t)blocks[block] + PAGE - 1) / PAGE * PAGE);
}
enum { WHOLE = BYTES / PAGE * PAGE - PAGE };

static void advise(void) {
  static const int advice[] = {MADV_NORMAL, MADV_WILLNEED, MADV_COLD,         MADV_PAGEOUT,
                               MADV_RANDOM, MADV_NORMAL,   MADV_POPULATE_READ};
  for (size_t i = 0; i < sizeof advice / sizeof *advice; ++i) {
    for (int block = 0; block < BLOCKS; ++block) madvise(pages_of(block), WHOLE, advice[i]);
    check("advice");
  }
  for (int block = 0; block < BLOCKS; ++block) {
    if (madvise(pages_of(block), WHOLE, MADV_DONTNEED)) die("madvise");
    for (int at = 0; at < WHOLE; ++at)
      if (pages_of(block)[at]) die("discarded");
  }
  fill();
}

static void protect(void) {
  for (int round = 0; round < 5; ++round) {
    for (int block = 0; block < BLOCKS; ++block)
      if (mprotect(pages_of(block), WHOLE, round % 2 ? PROT_READ : PROT_NONE)) die("mprotect");
    wait_ticks();
    for (int block = 0; block < BLOCKS; ++block)
      if (mprotect(pages_of(block), WHOLE, PROT_READ | PROT_WRITE)) die("mprotect");
    check("protection");
  }
}

// Accesses some of the pages, so that the others are mappings of their own.
static void touch(const unsigned char* pages) {
  for (int at = 0; at < WHOLE; at += 3 * PAGE) (void)*(const volatile unsigned char*)(pages + at);
}

// Elsewhere, and back.
static void move(void) {
  for (int round = 0; round < 5; ++round) {
    for (int block = 0; block < BLOCKS; ++block) {
      unsigned char* from = pages_of(block);
      void* room = mmap(NULL, WHOLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      wait_ticks();
      touch(from);
      if (mremap(from, WHOLE, WHOLE, MREMAP_MAYMOVE | MREMAP_FIXED, room) != room) die("mremap");
      wait_ticks();
      if (mremap(room, WHOLE, WHOLE, MREMAP_MAYMOVE | MREMAP_FIXED, from) != from) die("mremap");
    }
    check("move");
  }
}

static long set_filter(const struct sock_fprog* filter) {
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, filter);
}

// Without a function of libc.
static long set_filter_directly(const struct sock_fprog* filter) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER), "S"(SECCOMP_FILTER_FLAG_TSYNC),
                     "d"(filter)
                   : "rcx", "r11", "memory");
  return result;
}

// Kills any other thread at the system calls that the watch needs.
static void confine_threads(long (*set)(const struct sock_fprog* filter)) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ppoll, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("prctl");
  wait_ticks();
  if (set(&filter)) die("seccomp");
}

// Kills the process at the system calls that the watch makes, and the program does not.
static void enter_sandbox(void) {
  static const int killing[] = {SYS_getpid,      SYS_ppoll,    SYS_ioctl,  SYS_userfaultfd,
                                SYS_close_range, SYS_clone,    SYS_clone3, SYS_rt_sigprocmask,
                                SYS_pread64,     SYS_nanosleep};
  enum { COUNT = sizeof killing / sizeof *killing };
  struct sock_filter code[COUNT + 3] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < COUNT; ++i)
    code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, killing[i], COUNT - i, 0);
  code[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog filter = {COUNT + 3, code};
  if (puts("sandbox") < 0 || fflush(stdout)) die("puts");  // its buffer is there from now on
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    die("prctl");
}

static void call_system(void) {
  // The wrapper of the watch passes on arguments, results and errors.
  if (syscall(SYS_getpid) != getpid()) die("getpid");
  void* page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* same = (void*)syscall(SYS_mmap, page, PAGE, PROT_READ,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
  if (same != page || *(char*)page) die("mmap");
  if (syscall(SYS_close, -1) != -1 || errno != EBADF) die("close");
}

static void lock(void) {
  for (int block = 0; block < BLOCKS; block += 2)
    if (mlock(blocks[block], BYTES)) die("mlock");
  check("locked blocks");
  if (mlockall(MCL_CURRENT | MCL_FUTURE)) die("mlockall");
  check("all is locked");
  for (int block = 0; block < BLOCKS; block += 2)
    if (munlock(blocks[block], BYTES)) die("munlock");
  check("unlocked blocks");
  if (munlockall()) die("munlockall");
}

// Only a process with one thread may do so.
static void leave_namespace(void) {
  if (unshare(CLONE_NEWUSER)) die("unshare");
  if (setns(-1, 0) != -1 || errno != EBADF) die("setns");
}

// As daemon(3): the parent is gone when the child begins.
static void daemonise(void) {
  pid_t child = fork();
  if (child < 0) die("fork");
  if (child > 0) _exit(0);
}

static void* read_on(void* unused) {
  (void)unused;
  for (volatile unsigned char sum = 0;;)
    for (int block = 0; block < BLOCKS; ++block)
      for (int at = 0; at < BYTES; at += PAGE) sum += blocks[block][at];
}

static void end(const char* how) {
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, read_on, NULL)) die("pthread_create");
  }
  wait_ticks();
  if (puts("intact") < 0 || fflush(stdout)) die("puts");
  if (!strcmp(how, "exit")) exit(0);
  if (!strcmp(how, "_exit")) _exit(0);
  kill(getpid(), !strcmp(how, "kill") ? SIGKILL : SIGTERM);
}

// The argument is in an armed object.
static void execute(char* program) {
  unsigned char* text = blocks[0];
  memset(text, 'x', 100000);
  text[100000] = 0;
  wait_ticks();
  execl(program, program, "length", text, NULL);
  die("execl");
}

static void stop(void) {
  raise(SIGSTOP);
  check("stop");
}

// No second thread may be started from now on.
static void limit_threads(void) {
  struct rlimit one = {1, 1};
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct caps[2];
  if (getuid() == 0 && setresuid(65534, -1, -1)) die("setresuid");
  if (syscall(SYS_capget, &head, caps)) die("capget");
  caps[0].effective &= ~(1u << CAP_SYS_ADMIN | 1u << CAP_SYS_RESOURCE);
  if (syscall(SYS_capset, &head, caps)) die("capset");
  if (setrlimit(RLIMIT_NPROC, &one)) die("setrlimit");
}

// Address space for as many blocks as that, and no more; 0: two blocks, without a limit.
static void use_memory(long more) {
  if (more == 0) {
    for (int count = 0; count < 2; ++count) memset(make_large(BYTES), count, BYTES);
    return;
  }
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) die("statm");
  fclose(file);
  rlim_t bytes = (rlim_t)pages * PAGE + (rlim_t)more * BYTES;
  struct rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit)) die("setrlimit");
  int count = 0;
  for (unsigned char* last; (last = make_large(BYTES)); ++count) memset(last, count, BYTES);
  if (errno != ENOMEM) die("not ENOMEM");
  if (count == 0) die("no block");
}

// Mappings until only that many are left.
static void map_much(long left) {
  long limit = 0;
  FILE* file = fopen("/proc/sys/vm/max_map_count", "r");
  if (!file || fscanf(file, "%ld", &limit) != 1) die("max_map_count");
  fclose(file);
  char* at =
      mmap(NULL, limit * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) die("mmap");
  long pages = 0;
  while (pages + 2 < limit && !mprotect(at + (pages + 1) * PAGE, PAGE, PROT_READ)) pages += 2;
  for (long page = pages - 1; page > pages - left; page -= 2)
    if (mprotect(at + page * PAGE, PAGE, PROT_NONE)) die("mprotect");
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "nothing";
  if (!strcmp(what, "length")) return printf("%zu\n", strlen(argv[2])) < 0;
  if (!strcmp(what, "threads")) limit_threads();
  if (!strcmp(what, "early-sandbox")) enter_sandbox();
  for (int block = 0; block < BLOCKS; ++block) blocks[block] = make_large(BYTES);
  fill();
  wait_ticks();
  if (!strcmp(what, "advise")) advise();
  if (!strcmp(what, "protect")) protect();
  if (!strcmp(what, "move")) move();
  if (!strcmp(what, "lock")) lock();
  if (!strcmp(what, "late-sandbox")) enter_sandbox();
  if (!strcmp(what, "filter")) confine_threads(set_filter);
  if (!strcmp(what, "direct-filter")) confine_threads(set_filter_directly);
  if (!strcmp(what, "filter")) call_system();
  if (!strcmp(what, "namespace")) leave_namespace();
  if (!strcmp(what, "daemon")) daemonise();
  if (!strcmp(what, "end")) end(argv[2]);
  if (!strcmp(what, "exec")) execute(argv[0]);
  if (!strcmp(what, "stop")) stop();
  if (!strcmp(what, "memory")) use_memory(atol(argv[2]));
  if (!strcmp(what, "maps")) map_much(atol(argv[2]));
  check("first check");
  for (int block = 0; block < BLOCKS; ++block) {
    unsigned char* moved = realloc(blocks[block], 2 * BYTES);
    if (moved) blocks[block] = moved;
    if (!moved && strcmp(what, "memory")) die("realloc");
  }
  check("second check");
  for (int block = 0; block < BLOCKS; ++block) free(blocks[block]);
  puts("intact");
  return 0;
}
