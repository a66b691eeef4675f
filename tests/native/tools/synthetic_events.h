// Synthetic events of programs that do one thing, to measure and to test packing.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing/format/packing.h"
#include "tracing/format/site.h"

namespace halo::trace {

// A program with a memory; each access to it is an event.
class SyntheticProgram {
 public:
  // `pattern`: one of kPatterns.
  SyntheticProgram(std::string_view pattern, uint64_t seed);
  static constexpr std::string_view kPatterns[] = {"list", "tree", "array", "calls", "random"};

  const std::vector<SiteTraits>& sites() const { return sites_; }
  // Returns the next events, slightly more than `minimum`.
  std::vector<Logged> run(size_t minimum);

 private:
  uint64_t site(SiteKind kind, uint16_t bytes);
  uint64_t load(uint64_t site, uint64_t address);
  void store(uint64_t site, uint64_t address, uint64_t value);
  uint64_t allocate(uint64_t bytes);
  void log(uint64_t site, uint64_t word1, uint64_t word2) { out_.push_back({site, word1, word2}); }

  void make_list();
  void make_tree();
  void walk_list();
  void search_tree();
  void scan_array();
  void call(unsigned depth);
  void any();
  void one_round();

  std::string_view pattern_;
  std::mt19937_64 random_;
  std::vector<SiteTraits> sites_;
  std::unordered_map<uint64_t, uint64_t> memory_;
  std::vector<uint64_t> roots_;
  std::vector<Logged> out_;
  uint64_t heap_ = 0x55d0c0ffe010;
  uint64_t stack_ = 0x7ffd12345670;
  uint64_t s_[12] = {};  // the sites of the pattern
};

}  // namespace halo::trace
