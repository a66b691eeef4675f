// Orders the rules, counts their expansions and writes the text.
#include "recorder/analysis/streams/boundary_text.h"

#include <algorithm>
#include <stdexcept>

namespace halo::sinks {

namespace {

constexpr uint32_t kUnseen = UINT32_MAX;
constexpr uint32_t kFar = 255;

}  // namespace

BoundaryText::BoundaryText(const Sequitur& grammar)
    : grammar_(grammar), region_of_rule_(grammar.rules(), kUnseen) {
  for (const uint32_t start : grammar.starts()) order(start);
  count_uses();
  for (const uint32_t start : grammar.starts())
    references_ += regions_[region_of_rule_[start]].length;
  size_t size = 0;
  for (uint32_t region = 0; region < regions_.size(); ++region) {
    for_each_piece(region, [&](const Piece& piece) { size += piece.written + 1; });
    ++size;
  }
  if (size >= kBreak) throw std::length_error("the grammar is too large");
  text_.reserve(size);
  left_.reserve(size);
  for (uint32_t region = 0; region < regions_.size(); ++region) write(region);
}

// Depth first, so that a rule comes after those that it uses.
void BoundaryText::order(uint32_t start) {
  struct Open {
    uint32_t rule;
    size_t next_child;
    std::vector<uint32_t> children;
  };
  const auto open = [&](uint32_t rule) {
    Open made{rule, 0, {}};
    grammar_.for_each(rule, [&](uint32_t value) {
      if (!Sequitur::is_terminal(value)) made.children.push_back(Sequitur::rule_of(value));
    });
    return made;
  };
  std::vector<Open> stack{open(start)};
  while (!stack.empty()) {
    Open& top = stack.back();
    if (top.next_child < top.children.size()) {
      const uint32_t child = top.children[top.next_child++];
      if (region_of_rule_[child] == kUnseen) stack.push_back(open(child));
      continue;
    }
    if (region_of_rule_[top.rule] == kUnseen) {
      region_of_rule_[top.rule] = uint32_t(regions_.size());
      rules_.push_back(top.rule);
      uint64_t length = 0;
      grammar_.for_each(top.rule, [&](uint32_t value) {
        length += Sequitur::is_terminal(value)
                      ? 1
                      : regions_[region_of_rule_[Sequitur::rule_of(value)]].length;
      });
      regions_.push_back({.length = length, .frequency = 0, .begin = 0, .end = 0});
    }
    stack.pop_back();
  }
}

void BoundaryText::count_uses() {
  for (const uint32_t start : grammar_.starts()) regions_[region_of_rule_[start]].frequency = 1;
  for (size_t at = regions_.size(); at-- > 0;) {
    grammar_.for_each(rules_[at], [&](uint32_t value) {
      if (Sequitur::is_terminal(value)) return;
      regions_[region_of_rule_[Sequitur::rule_of(value)]].frequency += regions_[at].frequency;
    });
  }
}

void BoundaryText::write(uint32_t region) {
  regions_[region].begin = text_.size();
  size_t last_symbol = text_.size();
  grammar_.for_each(rules_[region], [&](uint32_t value) {
    last_symbol = text_.size();
    if (Sequitur::is_terminal(value)) {
      text_.push_back(value);
      left_.push_back(1);
      return;
    }
    // A rule's own region contains its ends without a break, or the whole if that is short.
    const Region& used = regions_[region_of_rule_[Sequitur::rule_of(value)]];
    if (is_short(used.length)) {
      write_terminals(used.begin, size_t(used.length), uint32_t(used.length));
      return;
    }
    write_terminals(used.begin, kEnd, kFar);
    text_.push_back(kBreak);
    left_.push_back(kFar);
    write_terminals(used.end - kEnd, kEnd, kEnd);
  });
  regions_[region].end = text_.size();
  std::fill(left_.begin() + ptrdiff_t(last_symbol), left_.end(), uint8_t{kFar});
  text_.push_back(kBreak);
  left_.push_back(kFar);
}

// Writes `left` of the symbol from the first terminal on.
void BoundaryText::write_terminals(size_t from, size_t count, uint32_t left) {
  for (size_t at = 0; at < count; ++at) {
    text_.push_back(text_[from + at]);
    left_.push_back(uint8_t(left == kFar ? kFar : left - at));
  }
}

}  // namespace halo::sinks
