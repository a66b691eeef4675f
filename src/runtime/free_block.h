// A freed block. Its first word leads to the next block of its list and shows that it is free. The
// program may still write there, by mistake, so the word is encoded: whoever does not know this
// process's secret cannot make one that leads anywhere.
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

  // False: the block is in use. True of every free one, and of few others.
  bool may_be_free() const { return decoded() >> address_bits == 0; }

  // The same without those others: at most one word in 2^37 is taken for a link by mistake.
  bool is_free() const {
    const std::uint64_t address = decoded();
    return address == 0 || std::rotr(address - arena.base(), 3) < arena.granule_limit();
  }

  std::uint64_t word() const { return word_; }

 private:
  static constexpr unsigned address_bits = 47;

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
