// The allocator's own accesses in an object trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "recorder/objects/allocation.h"
#include "recorder/objects/trace_reader.h"
#include "recorder/objects/visitor.h"

namespace halo::objects {

// A trace has the recorded allocator's accesses to block headers, to links in free blocks, and to
// memory that calloc and realloc fill. They are outside objects, as the object is not yet allocated
// or freed already. If objects are replayed elsewhere, these accesses must be there as well: their
// lines are those of the objects.
//
// Visits a trace, and passes the events to `Inner`. An access outside objects becomes access_block
// of an object if its address is in the block, and it is among the kWindow accesses before the
// allocation or behind the free. The block is that of glibc: a header of 16 bytes, sizes in steps
// of 16, and the next header, which an allocation writes. allocate() comes before its
// access_block(). Call finish() at the end.
template <class Inner>
class AllocatorAccesses : public Visitor {
 public:
  explicit AllocatorAccesses(Inner& inner) : inner_(inner) {}

  void allocate(const Allocation& one) {
    const Block block = know(one);
    for (Freed& freed : freed_)
      if (blocks_[freed.number].overlaps(block)) freed.number = 0;
    size_t first = held_;
    for (size_t at = held_; at-- > 0;)
      if (take(ring(at), one.number, block)) first = at;
    pass(first);
    inner_.allocate(one);
    pass_all();
  }
  void define(const Allocation& one) {
    know(one);
    pass_all();
    inner_.define(one);
  }
  void free(uint64_t number) {
    pass_all();
    inner_.free(number);
    freed_[newest_freed_++ % freed_.size()] = {number, accesses_};
  }
  void revive(uint64_t number) {
    pass_all();
    inner_.revive(number);
  }
  void align(uint64_t number) {
    pass_all();
    inner_.align(number);
  }
  void reallocate(uint64_t number, uint64_t replaced) {
    pass_all();
    inner_.reallocate(number, replaced);
  }
  void huge_pages(uint64_t address, uint64_t bytes) {
    pass_all();
    inner_.huge_pages(address, bytes);
  }
  void phase(uint64_t first, uint64_t last) {
    pass_all();
    inner_.phase(first, last);
  }
  void access(base::ThreadId thread, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    ++accesses_;
    hold({Held::kAccess, store, thread, size, number, offset});
  }
  void access_outside(base::ThreadId thread, uint64_t address, uint32_t size, bool store) {
    ++accesses_;
    Held one{Held::kOutside, store, thread, size, 0, address};
    for (const Freed& freed : freed_)
      if (accesses_ - freed.at <= kWindow && freed.number != 0 &&
          take(one, freed.number, blocks_[freed.number]))
        break;
    hold(one);
  }
  void repeat(base::ThreadId thread, uint64_t count) {
    hold({Held::kRepeated, false, thread, 0, count, 0});
  }
  void finish() { pass_all(); }

 private:
  static constexpr uint64_t kHeader = 16, kStep = 16;  // bytes
  static constexpr size_t kWindow = 512;               // accesses

  struct Block {
    uint64_t object = 0;  // address
    uint64_t begin = 0, end = 0;

    bool overlaps(const Block& other) const { return begin < other.end && other.begin < end; }
  };
  struct Freed {
    uint64_t number = 0;
    uint64_t at = 0;  // accesses before it
  };
  struct Held {
    enum Kind : uint8_t { kAccess, kOutside, kBlock, kRepeated } kind;
    bool store;
    base::ThreadId thread;
    uint32_t size;
    uint64_t number;  // of the object, or repeats
    uint64_t place;   // address, or offset in the object
  };

  const Block& know(const Allocation& one) {
    if (one.number >= blocks_.size()) blocks_.resize(one.number + 1);
    const uint64_t bytes = (one.size + kHeader / 2 + kStep - 1) / kStep * kStep;
    return blocks_[one.number] = {one.address, one.address - kHeader, one.address + bytes};
  }
  // Makes the access one to the block, if it is to its memory.
  static bool take(Held& one, uint64_t number, const Block& block) {
    if (one.kind != Held::kOutside || one.place < block.begin || one.place >= block.end)
      return false;
    one.kind = Held::kBlock;
    one.number = number;
    one.place -= block.object;
    return true;
  }
  Held& ring(size_t at) { return ring_[(first_ + at) % kWindow]; }
  void hold(const Held& one) {
    if (held_ == kWindow) pass(1);
    ring(held_++) = one;
  }
  void pass_all() { pass(held_); }
  // Passes the oldest events.
  void pass(size_t count) {
    for (; count > 0; --count, --held_, first_ = (first_ + 1) % kWindow) {
      const Held& one = ring_[first_];
      switch (one.kind) {
        case Held::kAccess:
          inner_.access(one.thread, one.number, uint32_t(one.place), one.size, one.store);
          break;
        case Held::kOutside:
          inner_.access_outside(one.thread, one.place, one.size, one.store);
          break;
        case Held::kBlock:
          inner_.access_block(one.thread, one.number, int64_t(one.place), one.size, one.store);
          break;
        case Held::kRepeated:
          inner_.repeat(one.thread, one.number);
          break;
      }
    }
  }

  Inner& inner_;
  std::vector<Block> blocks_{1};  // by allocation number
  std::array<Freed, 4> freed_{};  // the latest
  size_t newest_freed_ = 0;
  uint64_t accesses_ = 0;
  std::array<Held, kWindow> ring_;  // events that are not passed yet
  size_t first_ = 0, held_ = 0;
};

// Reads a trace with access_block events.
template <class Visitor>
void read_with_blocks(TraceReader& reader, Visitor& visitor) {
  AllocatorAccesses<Visitor> accesses(visitor);
  reader.read(accesses);
  accesses.finish();
}

}  // namespace halo::objects
