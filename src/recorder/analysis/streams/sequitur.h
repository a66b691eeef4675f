// SEQUITUR: builds a grammar of the repetitions in a sequence incrementally and in linear time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/mapped_array.h"
#include "recorder/analysis/streams/digram_table.h"

namespace halo::sinks {

// Nevill-Manning and Witten 1997, "Linear-time, incremental hierarchy inference for compression".
//
// Invariants between calls: no digram occurs twice in the grammar, unless the two overlap, and
// every rule is used at least twice. Several sequences, one per thread for example, may share the
// rules.
class Sequitur {
 public:
  // Terminals are less than this.
  static constexpr uint32_t kTerminals = 1u << 31;

  // Throws std::length_error if the grammar has too many symbols.
  void append(uint32_t sequence, uint32_t terminal);

  static bool is_terminal(uint32_t value) { return value < kTerminals; }
  // The value must not be a terminal.
  static uint32_t rule_of(uint32_t value) { return value & ~(kRule | kGuard); }

  // An upper bound of all rule numbers; not every number below it is in use.
  uint32_t rules() const { return uint32_t(rules_.size()); }
  // The rules of the sequences themselves, which no rule uses.
  const std::vector<uint32_t>& starts() const { return starts_; }

  // Calls visit(value) for each symbol on the rule's right side, from left to right.
  template <class Visit>
  void for_each(uint32_t rule, const Visit& visit) const {
    const uint32_t guard = rules_[rule].guard;
    for (uint32_t at = symbols_[guard].next; at != guard; at = symbols_[at].next)
      visit(symbols_[at].value);
  }
  uint32_t uses(uint32_t rule) const { return rules_[rule].uses; }
  uint64_t symbols() const { return symbol_count_; }  // on all right sides

 private:
  static constexpr uint32_t kRule = kTerminals;
  static constexpr uint32_t kGuard = kTerminals >> 1;

  // The symbols of a rule form a ring through the guard, which represents the rule itself.
  struct Symbol {
    uint32_t next;
    uint32_t previous;
    uint32_t value;
  };
  struct Rule {
    uint32_t guard;  // 0: the number is free
    uint32_t uses;
  };

  bool is_guard(uint32_t symbol) const {
    return (symbols_[symbol].value & (kRule | kGuard)) == (kRule | kGuard);
  }
  bool is_digram(uint32_t symbol) const {
    return !is_guard(symbol) && !is_guard(symbols_[symbol].next);
  }
  bool same_neighbours(uint32_t symbol) const;
  uint32_t hash_of(uint32_t symbol) const {
    return DigramTable::hash_of(symbols_[symbol].value, symbols_[symbols_[symbol].next].value);
  }
  auto same_as(uint32_t symbol) const {
    const uint32_t first = symbols_[symbol].value;
    const uint32_t second = symbols_[symbols_[symbol].next].value;
    return [this, first, second](uint32_t other) {
      return symbols_[other].value == first && symbols_[symbols_[other].next].value == second;
    };
  }

  uint32_t start_of(uint32_t sequence);
  uint32_t make_symbol(uint32_t value);
  void drop_symbol(uint32_t symbol);
  uint32_t make_rule();
  void drop_digram(uint32_t symbol);
  void remember(uint32_t symbol);
  void link(uint32_t left, uint32_t right);
  void insert_behind(uint32_t symbol, uint32_t value);
  void remove(uint32_t symbol);
  bool check(uint32_t symbol);
  void match(uint32_t symbol, uint32_t earlier);
  void substitute(uint32_t symbol, uint32_t rule);
  void expand(uint32_t symbol);

  base::MappedArray<Symbol> symbols_{1ULL << 32, 1ULL << 16};
  uint32_t next_symbol_ = 1;
  uint32_t free_symbol_ = 0;  // linked by `next`
  uint64_t symbol_count_ = 0;
  std::vector<Rule> rules_;
  std::vector<uint32_t> free_rules_;
  std::vector<uint32_t> start_of_sequence_;  // rule + 1; 0: none yet
  std::vector<uint32_t> starts_;
  DigramTable digrams_;
};

}  // namespace halo::sinks
