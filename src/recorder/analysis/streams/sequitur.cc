// The two constraints of SEQUITUR, and the steps that restore them.
#include "recorder/analysis/streams/sequitur.h"

namespace halo::sinks {

void Sequitur::append(uint32_t sequence, uint32_t terminal) {
  const uint32_t guard = start_of(sequence);
  const uint32_t last = symbols_[guard].previous;
  insert_behind(last, terminal);
  check(last);
}

uint32_t Sequitur::start_of(uint32_t sequence) {
  if (sequence >= start_of_sequence_.size()) start_of_sequence_.resize(sequence + 1);
  uint32_t& start = start_of_sequence_[sequence];
  if (start == 0) {
    starts_.push_back(make_rule());
    start = starts_.back() + 1;
  }
  return rules_[start - 1].guard;
}

uint32_t Sequitur::make_symbol(uint32_t value) {
  uint32_t symbol = free_symbol_;
  if (symbol != 0) {
    free_symbol_ = symbols_[symbol].next;
  } else {
    if (next_symbol_ >= symbols_.size() - 1) throw std::length_error("the grammar is too large");
    symbol = next_symbol_++;
  }
  symbols_[symbol].value = value;
  return symbol;
}

void Sequitur::drop_symbol(uint32_t symbol) {
  symbols_[symbol].next = free_symbol_;
  free_symbol_ = symbol;
}

uint32_t Sequitur::make_rule() {
  uint32_t rule;
  if (free_rules_.empty()) {
    rule = uint32_t(rules_.size());
    rules_.emplace_back();
  } else {
    rule = free_rules_.back();
    free_rules_.pop_back();
  }
  const uint32_t guard = make_symbol(kRule | kGuard | rule);
  symbols_[guard].next = symbols_[guard].previous = guard;
  rules_[rule] = {guard, 0};
  return rule;
}

// Removes the digram of the symbol and its successor, which are about to be separated.
void Sequitur::drop_digram(uint32_t symbol) {
  if (is_digram(symbol)) digrams_.remove(hash_of(symbol), symbol);
}

void Sequitur::remember(uint32_t symbol) {
  if (is_digram(symbol)) digrams_.set(hash_of(symbol), symbol, same_as(symbol));
}

// Of three equal symbols in a row, only one of the two overlapping digrams is in the table.
bool Sequitur::same_neighbours(uint32_t symbol) const {
  const Symbol& own = symbols_[symbol];
  return symbols_[own.next].value == own.value && symbols_[own.previous].value == own.value;
}

// Links `right` behind `left`, and unlinks the previous successor of `left`. If that was part of
// three equal symbols, the overlapping digram takes its place in the table.
void Sequitur::link(uint32_t left, uint32_t right) {
  drop_digram(left);
  if (same_neighbours(right)) remember(right);
  if (same_neighbours(left)) remember(symbols_[left].previous);
  symbols_[left].next = right;
  symbols_[right].previous = left;
}

void Sequitur::insert_behind(uint32_t symbol, uint32_t value) {
  const uint32_t added = make_symbol(value);
  const uint32_t next = symbols_[symbol].next;
  drop_digram(symbol);
  symbols_[symbol].next = added;
  symbols_[added].previous = symbol;
  symbols_[added].next = next;
  symbols_[next].previous = added;
  if (!is_terminal(value)) ++rules_[rule_of(value)].uses;
  ++symbol_count_;
}

void Sequitur::remove(uint32_t symbol) {
  const Symbol own = symbols_[symbol];
  drop_digram(symbol);
  link(own.previous, own.next);
  if (!is_terminal(own.value)) --rules_[rule_of(own.value)].uses;
  drop_symbol(symbol);
  --symbol_count_;
}

// Digram uniqueness. Returns true if the digram at `symbol` occurred before and a rule has replaced
// both.
bool Sequitur::check(uint32_t symbol) {
  if (!is_digram(symbol)) return false;
  const uint32_t earlier = digrams_.find_or_insert(hash_of(symbol), symbol, same_as(symbol));
  if (earlier == 0 || earlier == symbol) return false;
  if (symbols_[earlier].next == symbol || symbols_[symbol].next == earlier) return false;
  match(symbol, earlier);
  return true;
}

void Sequitur::match(uint32_t symbol, uint32_t earlier) {
  const uint32_t before = symbols_[earlier].previous;
  const uint32_t second = symbols_[earlier].next;
  uint32_t rule = rule_of(symbols_[before].value);
  // The rule of a sequence itself must not be used by others.
  if (is_guard(before) && symbols_[second].next == before && rules_[rule].uses != 0) {
    substitute(symbol, rule);
  } else {
    rule = make_rule();
    const uint32_t guard = rules_[rule].guard;
    insert_behind(guard, symbols_[symbol].value);
    insert_behind(symbols_[guard].next, symbols_[symbols_[symbol].next].value);
    substitute(earlier, rule);
    substitute(symbol, rule);
    remember(symbols_[guard].next);
  }
  // Rule utility. Only the first symbol's rule can have lost a use: sequences grow at their ends.
  const uint32_t first = symbols_[rules_[rule].guard].next;
  if (!is_terminal(symbols_[first].value) && rules_[rule_of(symbols_[first].value)].uses == 1)
    expand(first);
}

// Replaces the symbol and its successor by the rule.
void Sequitur::substitute(uint32_t symbol, uint32_t rule) {
  const uint32_t before = symbols_[symbol].previous;
  remove(symbols_[symbol].next);
  remove(symbol);
  insert_behind(before, kRule | rule);
  if (!check(before)) check(symbols_[before].next);
}

// The symbol is the only use of its rule, so the rule's right side replaces it.
void Sequitur::expand(uint32_t symbol) {
  const Symbol own = symbols_[symbol];
  const uint32_t rule = rule_of(own.value);
  const uint32_t guard = rules_[rule].guard;
  const uint32_t first = symbols_[guard].next;
  const uint32_t last = symbols_[guard].previous;
  drop_digram(symbol);
  link(own.previous, first);
  link(last, own.next);
  rules_[rule] = {0, 0};
  free_rules_.push_back(rule);
  drop_symbol(guard);
  drop_symbol(symbol);
  --symbol_count_;
  check(last);
}

}  // namespace halo::sinks
