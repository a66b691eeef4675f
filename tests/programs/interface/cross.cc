// Every way to allocate with every legal way to free: contents, alignment and usable size.
//
//   cross here|elsewhere|briefly [unknown]
//
// Blocks are freed by the main thread, or by another one; briefly: a few, for a recording.
// `unknown`: the next allocator cannot tell the usable size of a block. Prints how many blocks of
// groupable size each maker made.
#include <pthread.h>
#include <string.h>

#include <new>

#include "makers.h"
#include "releasers.h"

namespace {

constexpr size_t sizes[] = {1, 7, 8, 16, 24, 40, 100, 256, 1000, 4096, 4097, 200000};
constexpr size_t alignments[] = {8, 16, 64, 4096};
constexpr size_t largest_grouped = 4096;
constexpr size_t largest_when_brief = 256;
constexpr unsigned max_blocks = 4096;

struct Block {
  void* p;
  size_t usable;
  Request request;
  const Releaser* releaser;
};
Block blocks[max_blocks];
unsigned count = 0;
const Maker* maker;
bool usable_unknown = false, brief = false;

size_t usable_size(void* p, size_t wanted) {
  const size_t usable = malloc_usable_size(p);
  if (usable == 0 && usable_unknown) return wanted;
  if (usable < wanted) broken(maker->name, "malloc_usable_size is less than asked for", wanted);
  return usable;
}

// A block of n bytes has the alignment that an object of n bytes may need, up to 16.
size_t natural_alignment(size_t size) {
  const size_t lowest = size & -size;
  return lowest < 16 ? lowest : 16;
}

void add(const Releaser& releaser, Request request) {
  Block& block = blocks[count];
  const bool choosy = maker->choosy;
  block.p = maker->make(request);
  const size_t size = request.size;
  if (block.p == nullptr) broken(maker->name, "no block", size);
  if (!choosy && maker->kind != plain) request.alignment = natural_alignment(size);
  if (reinterpret_cast<uintptr_t>(block.p) % request.alignment != 0)
    broken(maker->name, "is not aligned", size);
  block.usable = usable_size(block.p, size);
  block.request = request;
  block.releaser = &releaser;
  fill(block.p, block.usable, count++);
}

void make_blocks() {
  for (const Releaser& releaser : releasers) {
    if ((releaser.takes & maker->kind) == 0) continue;
    for (const size_t size : sizes) {
      if (brief && size > largest_when_brief) break;
      for (unsigned copies = brief ? 1 : 2; copies > 0; --copies)
        if (!maker->choosy)
          add(releaser, {size, 1});
        else
          for (const size_t alignment : alignments) add(releaser, {size, alignment});
    }
  }
}

// In a different order.
void* drop_blocks(void*) {
  constexpr unsigned stride = 1009;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned at = i * stride % count;
    const Block& block = blocks[at];
    if (!holds(block.p, block.usable, at))
      broken(maker->name, "contents have changed", block.request.size);
    if (usable_size(block.p, block.request.size) < block.usable)
      broken(maker->name, "malloc_usable_size shrinks", block.request.size);
    block.releaser->release(block.p, block.request);
  }
  return nullptr;
}

void drop_elsewhere() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, drop_blocks, nullptr) != 0) std::abort();
  pthread_join(thread, nullptr);
}

unsigned groupable() {
  unsigned number = 0;
  for (unsigned i = 0; i < count; ++i) number += blocks[i].request.size <= largest_grouped;
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  const bool elsewhere = argc > 1 && strcmp(argv[1], "elsewhere") == 0;
  brief = argc > 1 && strcmp(argv[1], "briefly") == 0;
  usable_unknown = argc > 2;
  for (const Maker& each : makers) {
    maker = &each;
    unsigned made = 0;
    for (unsigned rounds = brief ? 1 : 2; rounds > 0; --rounds) {
      count = 0;
      make_blocks();
      made += groupable();
      elsewhere ? drop_elsewhere() : void(drop_blocks(nullptr));
    }
    std::printf("%s %u\n", maker->name, made);
  }
  std::puts(has_newest() ? "fine" : "fine without C23");
}
