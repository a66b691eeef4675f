// The text of a grammar, as far as strings of limited length need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/analysis/streams/hot_streams.h"
#include "recorder/analysis/streams/sequitur.h"

namespace halo::sinks {

// Every occurrence of a string is in exactly one smallest rule's expansion, in which it crosses
// from one symbol of the right side to another. So each rule's right side is written out. Of a long
// symbol only the ends are written, as long as a string can reach in, with a break between them. A
// string that starts at a position of the text counts there only if it is longer than the rest of
// the symbol.
class BoundaryText {
 public:
  static constexpr uint32_t kBreak = UINT32_MAX;
  static constexpr uint32_t kEnd = StreamOptions::kLongest - 1;  // terminals written of each end

  // One rule's part of the text; the rules that it uses come before it.
  struct Region {
    uint64_t length;     // of the expansion
    uint64_t frequency;  // of the expansion in all sequences
    size_t begin;        // in the text
    size_t end;
  };
  // A region's entry for one symbol of its rule's right side.
  struct Piece {
    uint32_t region;   // of the symbol's rule, or kTerminal
    size_t begin;      // its first terminal
    uint32_t written;  // number of terminals; a break in the middle is not counted
  };
  static constexpr uint32_t kTerminal = UINT32_MAX;

  // Throws std::length_error if the text is too long for 32-bit positions.
  explicit BoundaryText(const Sequitur& grammar);

  const std::vector<uint32_t>& text() const { return text_; }
  const std::vector<Region>& regions() const { return regions_; }
  uint64_t references() const { return references_; }
  bool is_start(uint32_t region) const { return grammar_.uses(rules_[region]) == 0; }

  // The number of terminals left of the symbol at this position. 255 also means a larger number, or
  // too few terminals behind them for a string from here to count.
  uint32_t left_of_symbol(size_t at) const { return left_[at]; }

  // Whether the whole expansion is written out at each use.
  static bool is_short(uint64_t length) { return length <= 2 * kEnd; }

  // Calls visit(piece) for each symbol of the region, from left to right.
  template <class Visit>
  void for_each_piece(uint32_t region, const Visit& visit) const {
    size_t at = regions_[region].begin;
    grammar_.for_each(rules_[region], [&](uint32_t value) {
      if (Sequitur::is_terminal(value)) {
        visit(Piece{kTerminal, at++, 1});
        return;
      }
      const uint32_t used = region_of_rule_[Sequitur::rule_of(value)];
      const uint64_t length = regions_[used].length;
      const bool whole = is_short(length);
      const uint32_t written = whole ? uint32_t(length) : 2 * kEnd;
      visit(Piece{used, at, written});
      at += written + (whole ? 0 : 1);
    });
  }

 private:
  void order(uint32_t start);
  void count_uses();
  void write(uint32_t region);
  void write_terminals(size_t from, size_t count, uint32_t left);

  const Sequitur& grammar_;
  std::vector<Region> regions_;
  std::vector<uint32_t> rules_;           // by region
  std::vector<uint32_t> region_of_rule_;  // by rule
  std::vector<uint32_t> text_;
  std::vector<uint8_t> left_;
  uint64_t references_ = 0;
};

}  // namespace halo::sinks
