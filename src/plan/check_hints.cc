#include "plan/check_hints.h"

#include <bit>

#include "plan/format.h"

namespace halo::plan {
namespace {

constexpr const char* unknown_hint_field = "the plan has an unknown field";

// Infinities and NaN fail both comparisons.
bool is_width(double width) { return width > 0 && width < 1e300; }

bool is_conversion(std::uint32_t parameter) {
  constexpr auto first_real = static_cast<std::uint32_t>(HintType::f32);
  const std::uint32_t from = parameter / hint_types;
  const std::uint32_t to = parameter % hint_types;
  return from < hint_types && from != to && (from >= first_real || to >= first_real);
}

const char* check_operation(const HintOperation& operation, const HintRule& rule) {
  const std::uint32_t parameter = operation.parameter;
  const std::uint32_t width = parameter & ~hint_signed_load;
  if (operation.reserved != 0) return unknown_hint_field;
  switch (operation.code) {
    case HintCode::push_register:
      return parameter < hint_registers && operation.value == 0 ? nullptr : unknown_hint_field;
    case HintCode::push_frame:
      if (parameter != 0) return unknown_hint_field;
      if (operation.value < 0 || static_cast<std::uint32_t>(operation.value) >= rule.frame_bytes)
        return "the plan has a hint from outside the caller's frame";
      return nullptr;
    case HintCode::push_image:
    case HintCode::push_constant:
      return parameter == 0 ? nullptr : unknown_hint_field;
    case HintCode::load:
      return width <= 8 && std::has_single_bit(width) ? nullptr : unknown_hint_field;
    case HintCode::add:
      return parameter <= max_hint_shift && operation.value == 0 ? nullptr : unknown_hint_field;
    case HintCode::extend:
      return width <= 4 && std::has_single_bit(width) && operation.value == 0 ? nullptr
                                                                              : unknown_hint_field;
    case HintCode::combine:
      return parameter < hint_functions && operation.value == 0 ? nullptr : unknown_hint_field;
    case HintCode::convert:
      return is_conversion(parameter) && operation.value == 0 ? nullptr : unknown_hint_field;
  }
  return "the plan has an unknown operation of a hint";
}

// How the operation changes the number of values, and how many it needs.
struct Effect {
  std::uint32_t needs;
  std::int32_t change;
};

constexpr Effect effect_of(HintCode code) {
  switch (code) {
    case HintCode::load:
    case HintCode::extend:
    case HintCode::convert:
      return {1, 0};
    case HintCode::add:
    case HintCode::combine:
      return {2, -1};
    default:
      return {0, 1};
  }
}

const char* check_program(std::span<const HintOperation> program, const HintRule& rule) {
  if (program.empty() || program.size() > max_hint_operations)
    return "the plan has a hint of no operations, or of too many";
  std::uint32_t depth = 0;
  for (const HintOperation& operation : program) {
    if (const char* problem = check_operation(operation, rule)) return problem;
    const Effect effect = effect_of(operation.code);
    if (depth < effect.needs) return "the plan has a hint that lacks a value";
    depth += static_cast<std::uint32_t>(effect.change);
    if (depth > max_hint_depth) return "the plan has a hint of too many values";
  }
  return depth == 1 ? nullptr : "the plan has a hint of too many values";
}

const char* check_key(const HintKey& key) {
  if (!is_width(key.width)) return "the plan has a hint with an impossible width";
  if (key.kind >= hint_kinds || key.reserved != 0) return unknown_hint_field;
  const bool is_behind = key.behind >= -1 && key.behind <= std::int32_t{max_hint_behind};
  return is_behind ? nullptr : "the plan has a hint from an impossible place";
}

const char* check_rule(const HintRule& rule, std::uint32_t modules) {
  if (rule.module >= modules) return "the plan names a module it lacks";
  if (rule.offset >= max_offset) return "the plan names an address that no program has";
  if (rule.bytes == 0 || rule.bytes > max_hint_bytes)
    return "the plan has a hint for objects of an impossible size";
  if (rule.frame_bytes > max_step) return "the plan has a hint from outside the caller's frame";
  if (rule.context >= max_hint_contexts) return "the plan has a hint of an unknown context";
  if (rule.keys == 0 || rule.keys > max_hint_keys)
    return "the plan has a rule of no hints, or of too many";
  return (rule.flags & ~hint_flags) == 0 ? nullptr : "the plan has an unknown flag";
}

}  // namespace

const char* check_hints(const Hints& hints, std::uint32_t modules) {
  std::uint32_t keys_of[max_hint_contexts] = {};
  std::size_t key_at = 0;
  std::size_t operation_at = 0;
  const HintRule* before = nullptr;
  for (const HintRule& rule : hints.rules) {
    if (const char* problem = check_rule(rule, modules)) return problem;
    if (before != nullptr && (rule.module < before->module ||
                              (rule.module == before->module && rule.offset <= before->offset)))
      return "the plan's rules for hints are out of order";
    before = &rule;
    std::uint32_t& keys = keys_of[rule.context];
    if (keys != 0 && keys != rule.keys) return "the plan has a context with two numbers of hints";
    keys = rule.keys;
    if (rule.keys > hints.keys.size() - key_at) return "the plan has a rule that lacks hints";
    for (const HintKey& key : hints.keys.subspan(key_at, rule.keys)) {
      if (const char* problem = check_key(key)) return problem;
      if (key.operations > hints.operations.size() - operation_at)
        return "the plan has a hint that lacks operations";
      const auto program = hints.operations.subspan(operation_at, key.operations);
      if (const char* problem = check_program(program, rule)) return problem;
      operation_at += key.operations;
    }
    key_at += rule.keys;
  }
  const bool all = key_at == hints.keys.size() && operation_at == hints.operations.size();
  return all ? nullptr : "the plan has hints of no rule";
}

}  // namespace halo::plan
