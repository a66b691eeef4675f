// Code made at run time that accesses small objects by aligned vectors. The argument says how its
// memory becomes executable; with `none` no code is made. Prints how many objects lie at no
// multiple of 16, before the code is made and afterwards.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { page = 4096, count = 2000 };
static const unsigned char code[] = {0x0F, 0x28, 0x07,  // movaps (%rdi), %xmm0
                                     0x0F, 0x29, 0x07,  // movaps %xmm0, (%rdi)
                                     0xC3};             // ret
typedef void Touch(void*);

static void* writable(void) {
  void* p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memcpy(p, code, sizeof code);
}

static int filled(int file) {
  if (ftruncate(file, page) != 0 || write(file, code, sizeof code) != sizeof code) abort();
  return file;
}

static void* from_file(int file, int flags) {
  return mmap64(NULL, page, PROT_READ | PROT_EXEC, flags, file, 0);
}

static void* by_segment(void) {
  const int id = shmget(IPC_PRIVATE, page, IPC_CREAT | 0700);
  void* p = shmat(id, NULL, SHM_EXEC);
  shmctl(id, IPC_RMID, NULL);
  return memcpy(p, code, sizeof code);
}

static Touch* make(const char* how) {
  void* p = NULL;
  if (strcmp(how, "map") == 0) {
    p = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(p, code, sizeof code);
  } else if (strcmp(how, "protect") == 0) {
    p = writable();
    if (mprotect(p, page, PROT_READ | PROT_EXEC) != 0) abort();
  } else if (strcmp(how, "key") == 0) {
    p = writable();
    if (pkey_mprotect(p, page, PROT_READ | PROT_EXEC, -1) != 0) abort();
  } else if (strcmp(how, "shared") == 0) {
    p = from_file(filled(memfd_create("code", 0)), MAP_SHARED);
  } else if (strcmp(how, "file") == 0) {
    p = from_file(filled(open("/tmp", O_TMPFILE | O_RDWR, 0700)), MAP_PRIVATE);
  } else if (strcmp(how, "segment") == 0) {
    p = by_segment();
  }
  if (p == MAP_FAILED) abort();
  return (Touch*)p;
}

static int misaligned(Touch* touch) {
  int found = 0;
  void* made[count];
  for (int i = 0; i < count; ++i) {
    made[i] = malloc(24);
    memset(made[i], 1, 24);
    found += (uintptr_t)made[i] % 16 != 0;
    if (touch != NULL) touch(made[i]);
  }
  for (int i = 0; i < count; ++i) free(made[i]);
  return found;
}

int main(int argc, char** argv) {
  const int before = misaligned(NULL);
  Touch* touch = make(argv[argc - 1]);
  printf("%d", before);
  printf(" %d\n", misaligned(touch));
}
