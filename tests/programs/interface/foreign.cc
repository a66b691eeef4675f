// Passes pointers that no allocator returned to all functions that take one: each must reach the
// next allocator (small_malloc) unchanged. Blocks of the groups must not reach it.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>
#include <new>

#include "next_log.h"
#include "releasers.h"

namespace {

const next_log* seen;

alignas(16) char in_data[64];

void expect_seen(const char* who, unsigned before, void* p, size_t size) {
  const auto& last = seen->entries[(seen->count - 1) % next_log_room];
  if (seen->count != before + 1)
    printf("%s: %u pointers instead of one\n", who, seen->count - before);
  else if (last.p != p || last.size != size)
    printf("%s: %p of %zu bytes became %p of %zu\n", who, p, size, last.p, last.size);
}

void* resize(void* p, size_t size) { return realloc(p, size); }
void* resize_array(void* p, size_t size) { return reallocarray(p, size, 1); }

void give(void* p) {
  for (const Releaser& releaser : releasers) {
    const unsigned before = seen->count;
    releaser.release(p, {32, 32});
    expect_seen(releaser.name, before, p, 0);
  }
  unsigned before = seen->count;
  resize(p, 48);
  expect_seen("realloc", before, p, 48);
  before = seen->count;
  resize_array(p, 56);
  expect_seen("reallocarray", before, p, 56);
}

struct Link {
  Link* next;
};
Link* take(Link* next) {
  auto* link = static_cast<Link*>(malloc(40));
  link->next = next;
  return link;
}

// Also enters the sites of resize into the plan.
void own_blocks() {
  Link* all = nullptr;
  for (int i = 0; i < 1000; ++i) all = take(all);
  while (all != nullptr) {
    Link* next = all->next;
    void* p = resize(all, 64);
    fill(p, 64, 1);
    p = resize_array(p, 80);
    fill(p, 80, 1);
    free(p);
    all = next;
  }
}

}  // namespace

int main() {
  seen = static_cast<next_log*>(dlsym(RTLD_DEFAULT, "next_log"));
  own_blocks();
  if (seen != nullptr) {
    alignas(16) char on_stack[64];
    char* forwarded = static_cast<char*>(malloc(9000));
    for (void* volatile p : {static_cast<void*>(on_stack), static_cast<void*>(in_data),
                             static_cast<void*>(in_data + 8), static_cast<void*>(forwarded + 32),
                             static_cast<void*>(forwarded + 1), reinterpret_cast<void*>(&give),
                             reinterpret_cast<void*>(16), reinterpret_cast<void*>(-16)})
      give(p);
    free(forwarded);
    const unsigned before = seen->count;
    own_blocks();
    if (seen->count != before) puts("a block of a group reached the next allocator");
  }
  puts("done");
}
