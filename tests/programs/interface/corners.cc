// Corner cases of the C functions and of operator new: prints one line for each expectation that
// does not hold, by name, and then "done".
//
//   corners [briefly|without pvalloc]
//
// Briefly: for a recording.
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>
#include <new>

#include "releasers.h"

namespace {

constexpr int untouched = 77;  // a value of errno that nothing here sets
bool with_pvalloc = true, brief = false;

void expect(bool holds, const char* what, size_t size = 0) {
  if (!holds) printf("%s (%zu)\n", what, size);
}

// --- zero sizes ---

constexpr int many = 50;

// Live blocks of no bytes are all different, and can be freed.
template <typename Make>
void expect_unique(const char* what, Make make) {
  void* blocks[many];
  for (int i = 0; i < many; ++i) {
    blocks[i] = make();
    expect(blocks[i] != nullptr, what);
    for (int k = 0; k < i; ++k) expect(blocks[k] != blocks[i], what);
  }
  for (void* p : blocks) free(p);
}

void zero_sizes() {
  volatile size_t none = 0;
  expect_unique("malloc of nothing", [&] { return malloc(none); });
  expect_unique("calloc of nothing", [&] { return calloc(none, 8); });
  expect_unique("calloc of empty items", [&] { return calloc(8, none); });
  expect_unique("realloc from nothing to nothing", [&] { return realloc(nullptr, none); });
  expect_unique("reallocarray of nothing", [&] { return reallocarray(nullptr, 8, none); });
  expect_unique("memalign of nothing", [&] { return memalign(64, none); });
  expect_unique("aligned_alloc of nothing", [&] { return aligned_alloc(64, none); });
  expect_unique("valloc of nothing", [&] { return valloc(none); });
  if (with_pvalloc) expect_unique("pvalloc of nothing", [&] { return pvalloc(none); });
  expect_unique("posix_memalign of nothing", [&] {
    void* p = nullptr;
    return posix_memalign(&p, 64, none) == 0 ? p : nullptr;
  });
}

template <typename Make, typename Release>
void expect_unique_objects(const char* what, Make make, Release release) {
  void* blocks[many];
  for (int i = 0; i < many; ++i) {
    blocks[i] = make();
    expect(blocks[i] != nullptr, what);
    for (int k = 0; k < i; ++k) expect(blocks[k] != blocks[i], what);
  }
  for (void* p : blocks) release(p);
}

void empty_objects() {
  volatile size_t none = 0;
  constexpr std::align_val_t wide{64};
  expect_unique_objects(
      "new of nothing", [&] { return ::operator new(none); },
      [](void* p) { ::operator delete(p); });
  expect_unique_objects(
      "new[] of nothing", [&] { return ::operator new[](none); },
      [](void* p) { ::operator delete[](p); });
  expect_unique_objects(
      "nothrow new of nothing", [&] { return ::operator new(none, std::nothrow); },
      [](void* p) { ::operator delete(p); });
  expect_unique_objects(
      "aligned new of nothing", [&] { return ::operator new(none, wide); },
      [](void* p) { ::operator delete(p, wide); });
}

// --- too much ---

constexpr size_t too_much[] = {PTRDIFF_MAX, size_t{PTRDIFF_MAX} + 1, SIZE_MAX - 4095, SIZE_MAX - 16,
                               SIZE_MAX};

template <typename Make>
void expect_refused(const char* what, size_t size, Make make) {
  errno = 0;
  void* p = make(size);
  expect(p == nullptr, what, size);
  expect(errno == ENOMEM, "errno is not ENOMEM after refusing", size);
}

void refusals() {
  for (const volatile size_t& n : too_much) {
    expect_refused("malloc of too much", n, [](size_t s) { return malloc(s); });
    expect_refused("calloc of too much", n, [](size_t s) { return calloc(1, s); });
    expect_refused("calloc of too many", n, [](size_t s) { return calloc(s, 1); });
    expect_refused("realloc from nothing", n, [](size_t s) { return realloc(nullptr, s); });
    expect_refused("reallocarray from nothing", n,
                   [](size_t s) { return reallocarray(nullptr, s, 1); });
    expect_refused("memalign of too much", n, [](size_t s) { return memalign(64, s); });
    expect_refused("aligned_alloc of too much", n, [](size_t s) { return aligned_alloc(64, s); });
    expect_refused("valloc of too much", n, [](size_t s) { return valloc(s); });
    if (with_pvalloc) expect_refused("pvalloc of too much", n, [](size_t s) { return pvalloc(s); });
  }
}

void overflows() {
  volatile size_t half = SIZE_MAX / 2 + 1, root = size_t{1} << 32;
  expect_refused("calloc that wraps to nothing", half, [](size_t n) { return calloc(n, 2); });
  expect_refused("calloc that wraps to little", half + 8, [](size_t n) { return calloc(2, n); });
  expect_refused("calloc of a square", root, [](size_t n) { return calloc(n, n); });
  expect_refused("reallocarray that wraps to nothing", half,
                 [](size_t n) { return reallocarray(nullptr, n, 2); });
  expect_refused("reallocarray that wraps to little", half + 8,
                 [](size_t n) { return reallocarray(nullptr, 2, n); });
  expect_refused("reallocarray of a square", root,
                 [](size_t n) { return reallocarray(nullptr, n, n); });
}

void* small(size_t size) { return malloc(size); }

// A realloc that fails leaves the old block unchanged.
void failing_realloc() {
  for (const size_t old : {size_t{24}, size_t{1000}, size_t{9000}})
    for (const volatile size_t& n : too_much) {
      void* p = small(old);
      fill(p, old, 3);
      const size_t usable = malloc_usable_size(p);
      expect_refused("realloc of a block to too much", n, [p](size_t s) { return realloc(p, s); });
      expect_refused("reallocarray of a block to too much", n,
                     [p](size_t s) { return reallocarray(p, s, 1); });
      expect_refused("reallocarray of a block that wraps", n,
                     [p](size_t s) { return reallocarray(p, s, 4); });
      expect(holds(p, old, 3), "a failed realloc loses contents", old);
      expect(malloc_usable_size(p) == usable, "a failed realloc changes the usable size", old);
      free(p);
    }
}

// --- alignment ---

void bad_alignment() {
  void* const mark = reinterpret_cast<void*>(0x5a5a);
  for (const volatile size_t alignment : {0, 1, 4, 3, 24, 65}) {
    void* p = mark;
    expect(posix_memalign(&p, alignment, 40) == EINVAL, "posix_memalign: not EINVAL", alignment);
    expect(p == mark, "posix_memalign changes the pointer on a bad alignment", alignment);
  }
  for (const volatile size_t& n : too_much) {
    void* p = mark;
    expect(posix_memalign(&p, 64, n) == ENOMEM, "posix_memalign: not ENOMEM", n);
    expect(p == mark, "posix_memalign changes the pointer when out of memory", n);
  }
}

// --- calloc on memory that was used before ---

void* cleared(size_t count, size_t size) { return calloc(count, size); }

void zeroed_again() {
  constexpr int live = 40;
  void* blocks[live];
  for (const size_t size : {1, 8, 24, 40, 64, 250, 1000, 4000, 4096, 5000, 20000})
    for (int round = 0; round < (brief ? 2 : 4); ++round) {
      for (int i = 0; i < live; ++i) {
        blocks[i] = round % 2 ? cleared(size, 1) : cleared(1, size);
        expect(is_zero(blocks[i], size), "calloc is not zeroed", size);
        fill(blocks[i], malloc_usable_size(blocks[i]), 9);
      }
      for (int i = 0; i < live; ++i) free(blocks[i * 7 % live]);
      for (void*& p : blocks) fill(p = small(size), size, 9);
      for (void* p : blocks) free(p);
    }
}

// --- errno ---

void expect_errno_kept(const char* what, size_t size) {
  expect(errno == untouched, what, size);
  errno = untouched;
}

void errno_of_each(size_t size) {
  errno = untouched;
  void* p = small(size);
  expect_errno_kept("malloc changes errno", size);
  p = realloc(p, size * 2);
  expect_errno_kept("realloc changes errno", size);
  p = realloc(p, size);
  expect_errno_kept("realloc to less changes errno", size);
  free(p);
  expect_errno_kept("free changes errno", size);
  free(cleared(1, size));
  expect_errno_kept("calloc or free changes errno", size);
  free(memalign(64, size));
  expect_errno_kept("memalign or free changes errno", size);
  ::operator delete(::operator new(size));
  expect_errno_kept("new or delete changes errno", size);
  ::operator delete[](::operator new[](size, std::nothrow), std::nothrow);
  expect_errno_kept("nothrow new[] or delete[] changes errno", size);
  ::operator delete(::operator new(size, std::align_val_t{64}), std::align_val_t{64});
  expect_errno_kept("aligned new or delete changes errno", size);
}

struct Link {
  Link* next;
};

// Enough to request memory from the system several times.
void errno_of_many(size_t size, int number) {
  Link* all = nullptr;
  for (int i = 0; i < number; ++i) {
    errno = untouched;
    auto* link = static_cast<Link*>(i % 2 ? small(size) : cleared(1, size));
    expect_errno_kept("one of many allocations changes errno", size);
    link->next = all;
    all = link;
  }
  while (all != nullptr) {
    Link* link = all;
    all = link->next;
    free(link);
    expect_errno_kept("one of many frees changes errno", size);
  }
}

void* errno_kept(void*) {
  for (const size_t size : {8, 24, 500, 4096, 5000, 300000, 3000000}) errno_of_each(size);
  errno_of_many(64, brief ? 100 : 60000);
  errno_of_many(3000, brief ? 100 : 1500);
  return nullptr;
}

// A new thread's first allocations and its end, too.
void errno_kept_in_a_thread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, errno_kept, nullptr) != 0) std::abort();
  pthread_join(thread, nullptr);
}

// --- nothing ---

void null_pointers() {
  errno = untouched;
  void* volatile nothing = nullptr;
  for (const Releaser& releaser : releasers)
    if (strstr(releaser.name, "realloc") == nullptr) releaser.release(nothing, {16, 16});
  expect(malloc_usable_size(nothing) == 0, "nothing has a usable size");
  expect_errno_kept("freeing nothing changes errno", 0);
}

}  // namespace

int main(int argc, char** argv) {
  brief = argc > 1 && strcmp(argv[1], "briefly") == 0;
  with_pvalloc = argc == 1 || brief;
  zero_sizes();
  empty_objects();
  refusals();
  overflows();
  failing_realloc();
  bad_alignment();
  zeroed_again();
  errno_kept(nullptr);
  errno_kept_in_a_thread();
  null_pointers();
  puts("done");
}
