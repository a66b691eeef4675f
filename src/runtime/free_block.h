// A freed block. Its first word shows that it is free; where another thread than the owner's freed
// it, it also leads to the next such block. The program may still write there, by mistake, so the
// word is encoded: whoever does not know this process's secret cannot make one that leads anywhere.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/arena.h"
#include "runtime/exported.h"
#include "runtime/misuse.h"

namespace halo::runtime {

struct LinkSecret {
  std::uint64_t mask;
  std::uint64_t factor;
  std::uint64_t inverse;  // of the factor, modulo 2^64
};

HALO_HIDDEN extern constinit LinkSecret link_secret;

// Makes this process's secret, from random bytes that the kernel gave it. Before the first block.
void draw_link_secret();

class [[gnu::may_alias]] Block {
 public:
  // Of a block that its owner's thread freed.
  void mark_freed() { word_ = mark(); }
  bool is_marked_freed() const { return word_ == mark(); }

  void set_next(const Block* next) {
    word_ = (reinterpret_cast<std::uintptr_t>(next) ^ own_mask()) * link_secret.factor;
  }

  // The next block of the list; null where this is the last one, or where its word has been
  // overwritten: the blocks behind it are then lost to the heap. Whatever has been changed in the
  // word changes all of the address's upper bits.
  Block* next() const {
    const std::uint64_t address = decoded();
    if (std::rotr(address - arena.base(), 3) < arena.granule_limit()) [[likely]]
      return reinterpret_cast<Block*>(address);
    if (checking_build && address != 0) report_overwritten(this);
    return nullptr;
  }

  // To be called of every block that is given out, however it came to be one: what lies in memory
  // that was free before may look like a link.
  void clear() { word_ = 0; }

  // Whether it was freed, by whatever thread: at most one word in 2^37 is taken for a link by
  // mistake.
  bool is_free() const { return is_marked_freed() || is_link(); }

  // Whether another thread freed it, and it has not been taken over yet.
  bool is_link() const {
    const std::uint64_t address = decoded();
    return address == 0 || std::rotr(address - arena.base(), 3) < arena.granule_limit();
  }

  std::uint64_t word() const { return word_; }

 private:
  std::uint64_t mark() const { return reinterpret_cast<std::uintptr_t>(this) ^ link_secret.mask; }
  // What differs from place to place lies in the upper bits: a word that was copied with the rest
  // of its block leads nowhere.
  std::uint64_t own_mask() const {
    return std::rotl(std::uint64_t{reinterpret_cast<std::uintptr_t>(this)}, 40) ^ link_secret.mask;
  }
  std::uint64_t decoded() const { return word_ * link_secret.inverse ^ own_mask(); }

  std::uint64_t word_;
};
static_assert(sizeof(Block) == granule);

}  // namespace halo::runtime
