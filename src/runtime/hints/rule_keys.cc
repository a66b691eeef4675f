#include "runtime/hints/rule_keys.h"

#include <new>
#include <span>

namespace halo::runtime {
namespace {

using Program = std::span<const plan::HintOperation>;

bool are_equal_programs(Program a, Program b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

void RuleKeys::prepare(const plan::Hints& hints, const plan::HintRule& rule, RuleKey* keys,
                       std::size_t& key, std::size_t& operation) {
  keys_ = keys;
  count_ = rule.keys;
  reads_memory_ = false;
  are_quick_ = true;
  Program before;
  for (const plan::HintKey& own : hints.keys.subspan(key, rule.keys)) {
    const Program program = hints.operations.subspan(operation, own.operations);
    const CompiledProgram compiled(program, rule);
    reads_memory_ |= compiled.reads_memory() || own.behind >= 0;
    new (keys++) RuleKey{compiled, Intervals(own.width, own.kind), own.behind,
                         tidy::kBytesOfKind[own.kind], are_equal_programs(before, program)};
    are_quick_ &= compiled.is_quick() && own.behind < 0;
    before = program;
    operation += own.operations;
  }
  key += rule.keys;
}

bool RuleKeys::read(std::uintptr_t bias, const CallState& call, std::uint64_t* values) const {
  std::uint64_t result = 0;
  for (unsigned at = 0; at < count_; ++at) {
    RuleKey& key = keys_[at];
    if (!key.is_as_before && !key.program.run(bias, call, result)) return false;
    values[at] = result;
    if (key.behind < 0) continue;
    if (!tidy::follow(result, static_cast<unsigned>(key.behind), key.bytes, values[at]))
      return false;
  }
  return true;
}

}  // namespace halo::runtime
