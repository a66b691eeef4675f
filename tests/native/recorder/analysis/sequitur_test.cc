// SEQUITUR: its two constraints and lossless output, on worked examples and random sequences.
#include "recorder/analysis/streams/sequitur.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <string>

#include "random.h"

namespace halo::sinks {
namespace {

using Sequence = std::vector<uint32_t>;

void expand(const Sequitur& grammar, uint32_t rule, Sequence& out) {
  grammar.for_each(rule, [&](uint32_t value) {
    if (Sequitur::is_terminal(value))
      out.push_back(value);
    else
      expand(grammar, Sequitur::rule_of(value), out);
  });
}

Sequence expansion(const Sequitur& grammar, uint32_t rule) {
  Sequence out;
  expand(grammar, rule, out);
  return out;
}

// The right sides of all rules that the sequences use, by rule.
std::map<uint32_t, Sequence> rules_of(const Sequitur& grammar) {
  std::map<uint32_t, Sequence> rules;
  std::vector<uint32_t> open(grammar.starts());
  while (!open.empty()) {
    const uint32_t rule = open.back();
    open.pop_back();
    if (!rules.try_emplace(rule).second) continue;
    grammar.for_each(rule, [&](uint32_t value) {
      rules[rule].push_back(value);
      if (!Sequitur::is_terminal(value)) open.push_back(Sequitur::rule_of(value));
    });
  }
  return rules;
}

void expect_constraints(const Sequitur& grammar) {
  std::map<uint32_t, uint64_t> uses;
  std::map<std::pair<uint32_t, uint32_t>, int> digrams;
  uint64_t symbols = 0;
  for (const auto& [rule, body] : rules_of(grammar)) {
    symbols += body.size();
    for (size_t at = 0; at < body.size(); ++at) {
      if (!Sequitur::is_terminal(body[at])) ++uses[Sequitur::rule_of(body[at])];
      if (at + 1 == body.size()) continue;
      // Of overlapping digrams in a row of equal symbols, every second one counts.
      const bool overlaps = at > 0 && body[at - 1] == body[at] && body[at] == body[at + 1];
      if (overlaps && (at < 2 || body[at - 2] != body[at])) continue;
      ++digrams[{body[at], body[at + 1]}];
    }
  }
  for (const auto& [rule, count] : uses) {
    EXPECT_GE(count, 2u) << "rule " << rule;
    EXPECT_EQ(count, grammar.uses(rule));
  }
  for (const auto& [digram, count] : digrams)
    EXPECT_EQ(count, 1) << digram.first << ' ' << digram.second;
  EXPECT_EQ(symbols, grammar.symbols());
}

Sequitur& feed(Sequitur& grammar, const std::string& text, uint32_t sequence = 0) {
  for (const char letter : text) grammar.append(sequence, uint32_t(letter));
  return grammar;
}

// "S: aA  A: bc": the start first, rules named in order of first use.
std::string printed(const Sequitur& grammar) {
  std::map<uint32_t, char> names{{grammar.starts()[0], 'S'}};
  std::vector<uint32_t> order{grammar.starts()[0]};
  std::string out;
  for (size_t at = 0; at < order.size(); ++at) {
    out += std::string(at == 0 ? "" : " ") + names[order[at]] + ":";
    grammar.for_each(order[at], [&](uint32_t value) {
      if (Sequitur::is_terminal(value)) {
        out += char(value);
        return;
      }
      const uint32_t rule = Sequitur::rule_of(value);
      if (names.try_emplace(rule, char('A' + names.size() - 1)).second) order.push_back(rule);
      out += names[rule];
    });
  }
  return out;
}

std::string grammar_of(const std::string& text) {
  Sequitur grammar;
  return printed(feed(grammar, text));
}

// The examples of the paper's section 2.
TEST(Sequitur, WorkedExamples) {
  EXPECT_EQ(grammar_of("abcdbc"), "S:aAdA A:bc");
  EXPECT_EQ(grammar_of("abcdbcabcdbc"), "S:AA A:aBdB B:bc");
  EXPECT_EQ(grammar_of("abcabdabcabd"), "S:AA A:BcBd B:ab");
}

TEST(Sequitur, RowsOfEqualSymbols) {
  for (size_t length = 1; length < 200; ++length) {
    Sequitur grammar;
    feed(grammar, std::string(length, 'a'));
    EXPECT_EQ(expansion(grammar, grammar.starts()[0]), Sequence(length, 'a'));
    EXPECT_LE(grammar.symbols(), 2 + 3 * size_t(std::bit_width(length)));
  }
}

TEST(Sequitur, KeepsItsConstraintsOnRandomSequences) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const uint32_t letters = 1 + below(6, random);
    const size_t length = random() % 400;
    Sequitur grammar;
    Sequence sequence;
    for (size_t at = 0; at < length; ++at) {
      sequence.push_back(below(letters, random));
      grammar.append(0, sequence.back());
    }
    if (length == 0) continue;
    ASSERT_EQ(expansion(grammar, grammar.starts()[0]), sequence) << "round " << round;
    expect_constraints(grammar);
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(Sequitur, SharesRulesBetweenSequences) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    Sequitur grammar;
    std::vector<Sequence> sequences(3);
    std::vector<uint32_t> first_seen;
    for (size_t at = 0; at < 300; ++at) {
      const uint32_t to = below(3, random), letter = below(4, random);
      if (sequences[to].empty()) first_seen.push_back(to);
      sequences[to].push_back(letter);
      grammar.append(to, letter);
    }
    ASSERT_EQ(grammar.starts().size(), 3u);
    for (size_t at = 0; at < 3; ++at)
      ASSERT_EQ(expansion(grammar, grammar.starts()[at]), sequences[first_seen[at]]) << round;
    expect_constraints(grammar);
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(Sequitur, ALongRepetitionCostsLittle) {
  Sequitur grammar;
  for (uint32_t at = 0; at < 1000000; ++at) grammar.append(0, at % 1000);
  EXPECT_LT(grammar.symbols(), 1100u);
}

}  // namespace
}  // namespace halo::sinks
