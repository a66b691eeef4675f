// The values of a rule at a call, and the key of the cell that they choose.
#pragma once

#include <cstdint>
#include <cstring>

#include "plan/check_hints.h"
#include "runtime/hints/compiled.h"
#include "runtime/hints/intervals.h"
#include "tidy/keys.h"
#include "tidy/values.h"

namespace halo::runtime {

// One value.
struct RuleKey {
  CompiledProgram program;
  Intervals intervals;
  std::int32_t behind;  // of plan::HintKey
  std::uint32_t bytes;  // of the value
  bool is_as_before;    // the key before it has the same program
};

class RuleKeys {
 public:
  // Prepares the rule's keys at `keys`, which must last; they begin at `key` of the plan, and their
  // operations at `operation`. Both are moved behind them.
  void prepare(const plan::Hints& hints, const plan::HintRule& rule, RuleKey* keys,
               std::size_t& key, std::size_t& operation);

  // Whether a value depends on memory.
  bool reads_memory() const { return reads_memory_; }

  // Stores a value for each key; false if one is not known. Keys of one pointer follow each other:
  // its program runs once.
  bool read(std::uintptr_t bias, const CallState& call, std::uint64_t* values) const;

  // Whether all programs are quick, and their results are the values.
  bool are_quick() const { return are_quick_; }
  // Whether the values are these, as CompiledProgram::gives.
  [[gnu::always_inline]] bool give(const std::uint64_t* values, const CallState& call) const {
    for (const RuleKey *key = keys_, *const end = key + count_; key != end; ++key)
      if (!key->program.gives(*values++, call)) return false;
    return true;
  }

  // The key of their cell.
  std::uint64_t key_of(const std::uint64_t* values) const {
    unsigned hint[plan::max_hint_keys] = {};
    for (unsigned at = 0; at < count_; ++at) hint[at] = keys_[at].intervals.number_of(values[at]);
    return maker().key(hint);
  }
  tidy::KeyMaker maker() const { return {count_, {}}; }

 private:
  RuleKey* keys_;
  std::uint32_t count_;
  bool reads_memory_;
  bool are_quick_;
};

}  // namespace halo::runtime
