// A freed block: its first word is a mark, or an encoded link to another freed block.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/base/diagnosis.h"
#include "runtime/base/exported.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {

struct LinkSecret {
  uint64_t mask;
  uint64_t factor;
  uint64_t inverse;  // of the factor, modulo 2^64
};

HALO_HIDDEN extern constinit LinkSecret link_secret;

// Derives this process's secret from the kernel's random bytes. Must run before the first block is
// served.
void draw_link_secret();

// Blocks of single-size pages have links in their page. The mark is of blocks in caches and in the
// owner's ring of remote frees. If that is full, another thread writes a link to a block of any
// page. The program may overwrite the word by mistake, so all are encoded with a secret of the
// process: other values do not decode to an address in the page, or in the arena.
class [[gnu::may_alias]] Block {
 public:
  // Called by the owner's thread, or by a thread that puts the block into the owner's ring.
  void mark_freed() { word_ = mark(); }
  bool is_marked_freed() const { return word_ == mark(); }

  void set_next(const Block* next) {
    word_ = (reinterpret_cast<uintptr_t>(next) ^ own_mask()) * link_secret.factor;
  }

  // The next block of the list; null at its end. Also null if the word has been overwritten: the
  // rest of the list then leaks. The multiplication spreads any change of the word over the
  // address's upper bits.
  Block* next() const {
    const uint64_t address = decoded();
    if (std::rotr(address - arena.base(), 3) < arena.granule_limit()) [[likely]]
      return reinterpret_cast<Block*>(address);
    if (kCheckingBuild && address != 0) report_overwritten(this);
    return nullptr;
  }

  // The link of a block in the list of its page. `next` is the next block, or odd and in the page
  // at the list's end.
  void link_in_page(uintptr_t next) {
    word_ = next ^ reinterpret_cast<uintptr_t>(this) ^ link_secret.mask;
  }
  // The block's address XOR that `next`: less than kPageSize. If the word was overwritten, more,
  // with a probability of 1 - 2^-48.
  uintptr_t step_in_page() const { return word_ ^ link_secret.mask; }
  // Whether it has such a link. Also true of memory with the copy of one.
  bool is_linked_in_page() const { return step_in_page() < kPageSize; }

  // Must be called for every block that is served: memory that was free before may contain a valid
  // link.
  void clear() { word_ = 0; }

  // Whether it is marked or a link, but not one in its page.
  bool is_free() const { return is_marked_freed() || is_link(); }

  // Whether another thread freed it and the owner has not collected it yet. A random word is
  // mistaken for a link with a probability of at most 2^-37.
  bool is_link() const {
    const uint64_t address = decoded();
    return address == 0 || std::rotr(address - arena.base(), 3) < arena.granule_limit();
  }

  uint64_t word() const { return word_; }

 private:
  uint64_t mark() const { return reinterpret_cast<uintptr_t>(this) ^ link_secret.mask; }
  // The block's own address is rotated into the upper bits: a word copied with the rest of its
  // block does not decode to an address in the arena.
  uint64_t own_mask() const {
    return std::rotl(uint64_t{reinterpret_cast<uintptr_t>(this)}, 40) ^ link_secret.mask;
  }
  uint64_t decoded() const { return word_ * link_secret.inverse ^ own_mask(); }

  uint64_t word_;
};
static_assert(sizeof(Block) == kGranule);

}  // namespace halo::runtime
