// A new handler that frees memory, in a process whose address space is limited.
//
//   recovering_new [until there is no more]
#include <stdio.h>
#include <stdlib.h>

#include <new>

namespace {

constexpr size_t reserved = size_t{32} << 20, block = 4000, few = 1000, maximum = 200000;
void* reserve = nullptr;
int calls = 0;

void drop() {
  ++calls;
  if (reserve == nullptr) throw std::bad_alloc();
  free(reserve);
  reserve = nullptr;
}

struct Link {
  Link* next;
};
Link* all = nullptr;

// The number of blocks allocated after the handler's first call.
size_t make(size_t number) {
  size_t after = 0;
  try {
    for (size_t i = 0; i < number; ++i, after += calls > 0) {
      auto* link = static_cast<Link*>(::operator new(block));
      link->next = all;
      all = link;
    }
  } catch (const std::bad_alloc&) {
  }
  return after;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    reserve = malloc(reserved);
    while (malloc(reserved / 16) != nullptr) continue;  // uses up the rest
    std::set_new_handler(drop);
  }
  const size_t after = make(argc > 1 ? maximum : few);
  while (all != nullptr) {
    Link* link = all;
    all = link->next;
    ::operator delete(link);
  }
  printf("%d calls, %s\n", calls, after > reserved / block / 2 ? "went on" : "gave up");
}
