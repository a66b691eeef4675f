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

// The arena is in one aligned range of this size, so that the XOR of two of its addresses is less.
inline constexpr unsigned kSpanShift = 44;

// A freed block has one of these words:
// - a link in a list of its size class, of its owner's heap (free_list.h), or in the list of its
//   page (equal_pages.cc);
// - the mark, while it is in its owner's ring of remote frees;
// - a remote link, if that ring was full.
//
// The program may overwrite the word by mistake. So all are encoded with a secret of the process,
// and other values do not decode to one of them. The multiplication spreads any change of the word.
class [[gnu::may_alias]] Block {
 public:
  // Called by a thread that puts the block into the owner's ring.
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

  // The link in a list of its class. `next` is the next block, or odd at the list's end, and in the
  // arena's span.
  void link(uintptr_t next) { word_ = encoded(next ^ reinterpret_cast<uintptr_t>(this)); }
  // The same in the list of its page, with the page's phase.
  void link_in_page(uintptr_t next, bool phase) {
    const uintptr_t tag = phase ? kInPage | kPhase : kInPage;
    word_ = encoded(next ^ reinterpret_cast<uintptr_t>(this) ^ tag);
  }

  // The decoded word: of a link, the next block's address XOR its own, and the tags of a page.
  uintptr_t step() const { return word_ * link_secret.inverse ^ link_secret.mask; }
  // Whether it is not of a link. Of an overwritten word it is, with a probability of 1 - 2^-20.
  static bool is_bad(uintptr_t step) { return step >> kSpanShift != 0; }
  static bool is_of_page(uintptr_t step) { return (step & kInPage) != 0; }
  static bool phase_of(uintptr_t step) { return (step & kPhase) != 0; }
  // The next block, or the list's end, for a step that is not bad.
  uintptr_t behind(uintptr_t step) const {
    return (reinterpret_cast<uintptr_t>(this) ^ step) & ~(kInPage | kPhase);
  }

  // Whether it has a link. Also true of memory with the copy of one.
  bool is_linked() const { return !is_bad(step()); }

  // Must be called for every block that is served: memory that was free before may contain a valid
  // link.
  void clear() { word_ = 0; }

  // Whether another thread freed it: it is marked, or a remote link.
  bool is_free() const { return is_marked_freed() || is_link(); }

  // Whether another thread freed it and the owner has not collected it yet. A random word is
  // mistaken for a link with a probability of at most 2^-37.
  bool is_link() const {
    const uint64_t address = decoded();
    return address == 0 || std::rotr(address - arena.base(), 3) < arena.granule_limit();
  }

  uint64_t word() const { return word_; }

 private:
  // Tags of links: blocks are at multiples of 8, and the lowest bit is that of the list's end.
  static constexpr uintptr_t kInPage = 2, kPhase = 4;

  static uint64_t encoded(uint64_t step) { return (step ^ link_secret.mask) * link_secret.factor; }
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
