// Rules for hints in plans: what is read, and that each contradiction is refused with a sentence.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "plan/plan_builder.h"
#include "plan/plan_file.h"

namespace halo::plan {
namespace {

constexpr HintOperation hint_register(std::uint8_t number) {
  return {HintCode::push_register, number, 0, 0};
}
constexpr HintOperation hint_load(std::uint8_t width, std::int32_t at) {
  return {HintCode::load, width, 0, at};
}
constexpr HintOperation hint_frame(std::int32_t at) { return {HintCode::push_frame, 0, 0, at}; }
constexpr HintOperation hint_add(std::uint8_t shift) { return {HintCode::add, shift, 0, 0}; }

PlanBuilder hinted_plan() {
  // base[index * 8], and a word of the frame.
  const std::vector<HintOperation> programs[] = {
      {hint_register(2), hint_load(8, 16), hint_register(3), hint_load(4, -4), hint_add(3),
       hint_load(8, 0)},
      {hint_frame(24), hint_load(8, 0)},
  };
  PlanBuilder builder;
  builder.module(1).hint(0x1000, programs).hint(0x2000, programs);
  return builder;
}

TEST(PlanHints, ReadsHints) {
  PlanView view;
  const auto file = hinted_plan().bytes();
  ASSERT_EQ(validate(file, view), nullptr);
  EXPECT_EQ(view.header->version, hint_version);
  ASSERT_EQ(view.hints.rules.size(), 2u);
  EXPECT_EQ(view.hints.rules[1].offset, 0x2000u);
  EXPECT_EQ(view.hints.keys.size(), 4u);
  EXPECT_EQ(view.hints.operations.size(), 16u);
  EXPECT_EQ(view.hints.operations[1].value, 16);
}

TEST(PlanHints, RefusesEveryTruncationOfHints) {
  const auto file = hinted_plan().bytes();
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(problem_with({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}), "");
}

TEST(PlanHints, RefusesRulesForHintsThatContradictThemselves) {
  const auto with = [](auto change) {
    PlanBuilder builder = hinted_plan();
    change(builder);
    return problem_with(builder.bytes());
  };
  using B = PlanBuilder;
  EXPECT_EQ(with([](B& b) { b.rule(1).offset = 0x1000; }),
            "the plan's rules for hints are out of order");
  EXPECT_EQ(with([](B& b) { b.rule(1).offset = max_offset; }),
            "the plan names an address that no program has");
  EXPECT_EQ(with([](B& b) { b.rule(1).module = 1; }), "the plan names a module it lacks");
  EXPECT_EQ(with([](B& b) { b.rule(0).bytes = 0; }),
            "the plan has a hint for objects of an impossible size");
  EXPECT_EQ(with([](B& b) { b.rule(0).bytes = max_hint_bytes + 1; }),
            "the plan has a hint for objects of an impossible size");
  EXPECT_EQ(with([](B& b) { b.rule(0).frame_bytes = 24; }),
            "the plan has a hint from outside the caller's frame");
  EXPECT_EQ(with([](B& b) { b.rule(0).frame_bytes = max_step + 8; }),
            "the plan has a hint from outside the caller's frame");
  EXPECT_EQ(with([](B& b) { b.rule(0).context = max_hint_contexts; }),
            "the plan has a hint of an unknown context");
  EXPECT_EQ(with([](B& b) { b.rule(0).flags = 4; }), "the plan has an unknown flag");
  EXPECT_EQ(with([](B& b) { b.rule(0).keys = 0; }),
            "the plan has a rule of no hints, or of too many");
  EXPECT_EQ(with([](B& b) { b.rule(1).keys = 1; }),
            "the plan has a context with two numbers of hints");
  EXPECT_EQ(with([](B& b) { b.rule(0).keys = b.rule(1).keys = 3; }),
            "the plan has a rule that lacks hints");
  EXPECT_EQ(with([](B& b) { b.rule(0).keys = b.rule(1).keys = 1; }),
            "the plan has hints of no rule");
  for (const double width : {0.0, -1.0, HUGE_VAL, std::nan("")})
    EXPECT_EQ(with([width](B& b) { b.key(2).width = width; }),
              "the plan has a hint with an impossible width");
  EXPECT_EQ(with([](B& b) { b.key(0).kind = hint_kinds; }), "the plan has an unknown field");
  EXPECT_EQ(with([](B& b) { b.key(0).behind = -2; }),
            "the plan has a hint from an impossible place");
  EXPECT_EQ(with([](B& b) { b.key(3).operations = 3; }),
            "the plan has a hint that lacks operations");
  EXPECT_EQ(with([](B& b) { b.key(0).operations = 0; }),
            "the plan has a hint of no operations, or of too many");
}

TEST(PlanHints, RefusesProgramsOfHintsThatCannotRun) {
  using Program = std::vector<HintOperation>;
  const auto with = [](const Program& program) {
    PlanBuilder builder;
    return problem_with(builder.module(1).hint(0x1000, {&program, 1}).bytes());
  };
  EXPECT_EQ(with({hint_register(5)}), "");
  EXPECT_EQ(with({hint_register(6)}), "the plan has an unknown field");
  EXPECT_EQ(with({hint_load(8, 0)}), "the plan has a hint that lacks a value");
  EXPECT_EQ(with({hint_register(0), hint_add(0)}), "the plan has a hint that lacks a value");
  EXPECT_EQ(with({hint_register(0), hint_register(0)}), "the plan has a hint of too many values");
  EXPECT_EQ(with(Program(5, hint_register(0))), "the plan has a hint of too many values");
  EXPECT_EQ(with({hint_register(0), hint_load(3, 0)}), "the plan has an unknown field");
  EXPECT_EQ(with({hint_register(0), hint_load(16, 0)}), "the plan has an unknown field");
  EXPECT_EQ(with({hint_register(0), hint_load(0, 0)}), "the plan has an unknown field");
  EXPECT_EQ(with({hint_register(0), hint_register(0), hint_add(4)}),
            "the plan has an unknown field");
  EXPECT_EQ(with({hint_frame(-8)}), "the plan has a hint from outside the caller's frame");
  EXPECT_EQ(with({hint_frame(64)}), "the plan has a hint from outside the caller's frame");
  EXPECT_EQ(with({{static_cast<HintCode>(9), 0, 0, 0}}),
            "the plan has an unknown operation of a hint");
  Program longest(1, hint_register(0));
  longest.resize(max_hint_operations, hint_load(8, 0));
  EXPECT_EQ(with(longest), "");
  longest.push_back(hint_load(8, 0));
  EXPECT_EQ(with(longest), "the plan has a hint of no operations, or of too many");
}

TEST(PlanHints, ReadsArithmeticThatIsKnown) {
  const auto problem_of = [](std::initializer_list<HintOperation> last) {
    std::vector<HintOperation> program = {hint_register(0), hint_register(1)};
    program.insert(program.end(), last);
    PlanBuilder builder;
    return problem_with(builder.module(1).hint(0x1000, {&program, 1}).bytes());
  };
  constexpr HintOperation sum = hint_add(0);
  const std::string unknown = "the plan has an unknown field";
  for (unsigned parameter = 0; parameter < 256; ++parameter) {
    const auto with = [&](HintCode code) {
      const HintOperation one{code, static_cast<std::uint8_t>(parameter), 0, 0};
      return code == HintCode::combine ? problem_of({one}) : problem_of({sum, one});
    };
    const unsigned width = parameter & 0x7F;
    EXPECT_EQ(with(HintCode::extend), width == 1 || width == 2 || width == 4 ? "" : unknown);
    EXPECT_EQ(with(HintCode::combine), parameter < 16 ? "" : unknown);
    const unsigned from = parameter / 4, to = parameter % 4;
    const bool converts = from < 4 && from != to && (from > 1 || to > 1);
    EXPECT_EQ(with(HintCode::convert), converts ? "" : unknown) << parameter;
  }
  for (const HintCode code : {HintCode::extend, HintCode::convert})
    EXPECT_EQ(problem_of({sum, {code, 2, 0, 1}}), unknown);
  EXPECT_EQ(problem_of({{HintCode::combine, 0, 0, 1}}), unknown);
  EXPECT_EQ(problem_of({sum, {HintCode::combine, 0, 0, 0}}),
            "the plan has a hint that lacks a value");
}

TEST(PlanHints, RefusesHintsOfPlansWithoutCallers) {
  const std::uint16_t sites[] = {0};
  PlanBuilder builder = hinted_plan();
  builder.group().site(0x1000);
  builder.conjunction(0, sites);
  EXPECT_EQ(problem_with(builder.bytes()), "the plan has hints and does not use callers");
}

}  // namespace
}  // namespace halo::plan
