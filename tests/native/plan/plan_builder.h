// Builds compact plans in memory for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/crc32.h"
#include "plan/plan_file.h"

namespace halo::plan {

class PlanBuilder {
 public:
  PlanBuilder& module(uint8_t id) {
    Module m{};
    m.build_id[0] = id;
    m.build_id_length = 20;
    modules_.push_back(m);
    return *this;
  }
  // Gives the last module the digest of a layout.
  PlanBuilder& layout(uint32_t digest) {
    modules_.back().layout = digest;
    return *this;
  }
  PlanBuilder& group(Reuse reuse = Reuse::kNewestFirst) {
    groups_.push_back({0, reuse, 0});
    return *this;
  }
  // Gives the last group spans, and a ring if `ring` is not 0.
  PlanBuilder& spans(uint64_t ring, bool confined, uint64_t density = 0) {
    groups_.back().flags |= kGroupSpans;
    if (confined) groups_.back().flags |= kGroupConfined;
    groups_.back().starts = ring | density;
    return *this;
  }
  // Adds a state and returns its number.
  uint32_t state(uint32_t parent, uint64_t offset, uint16_t verdict, int32_t step = 16,
                 Rule rule = Rule::kConstant) {
    State s{};
    s.parent = parent;
    s.offset = offset;
    s.verdict = verdict;
    s.step = step;
    s.rule = rule;
    states_.push_back(s);
    return static_cast<uint32_t>(states_.size() - 1);
  }
  // A call site for selectors; the plan becomes one of them.
  uint16_t site(uint64_t offset, uint32_t step = 0, uint32_t module = 0) {
    flags_ |= kHeaderSelectors;
    states_[0].verdict = kVerdictForward;
    sites_.push_back({module, 0, offset, step, 0});
    return static_cast<uint16_t>(sites_.size() - 1);
  }
  PlanBuilder& conjunction(uint16_t group, std::span<const uint16_t> sites) {
    Conjunction c{group, 0, static_cast<uint16_t>(sites.size()), 0, {}};
    std::fill_n(c.sites, kMaxConjunctionSites, kNoSite);
    std::copy(sites.begin(), sites.end(), c.sites);
    conjunctions_.push_back(c);
    return *this;
  }
  // Likewise, with a complete build-id.
  PlanBuilder& checked(std::span<const uint8_t> build_id) {
    CheckedModule m{};
    std::copy(build_id.begin(), build_id.end(), m.build_id);
    m.build_id_length = static_cast<uint32_t>(build_id.size());
    checked_.push_back(m);
    return *this;
  }
  // A module whose code allows blocks at multiples of eight.
  PlanBuilder& checked(uint8_t id, std::span<const Relaxation> relaxations = {}) {
    CheckedModule m{};
    m.build_id[0] = id;
    m.build_id_length = 20;
    m.relaxations = static_cast<uint32_t>(relaxations.size());
    checked_.push_back(m);
    relaxations_.insert(relaxations_.end(), relaxations.begin(), relaxations.end());
    return *this;
  }
  State& at(uint32_t state) { return states_[state]; }
  std::span<const State> states() const { return states_; }

  std::vector<std::byte> bytes() const {
    Header h{};
    std::memcpy(h.magic, kMagic, sizeof kMagic);
    const bool has_spans = std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
      return (group.flags & kGroupSpans) != 0;
    });
    h.version = has_spans ? kSpanVersion : kLayoutVersion;
    const bool has_digests = std::any_of(modules_.begin(), modules_.end(),
                                         [](const Module& module) { return module.layout != 0; });
    if (has_digests) h.version = kDigestVersion;
    h.flags = flags_;
    h.modules = static_cast<uint32_t>(modules_.size());
    h.groups = static_cast<uint32_t>(groups_.size());
    h.states = static_cast<uint32_t>(states_.size());
    h.max_object = 4096;
    h.sites = static_cast<uint32_t>(sites_.size());
    h.conjunctions = static_cast<uint32_t>(conjunctions_.size());
    h.checked_modules = static_cast<uint32_t>(checked_.size());
    h.relaxations = static_cast<uint32_t>(relaxations_.size());
    std::vector<std::byte> file(sizeof h);
    if (h.version >= kHintVersion) append(file, std::vector<HintCounts>(1));
    append(file, modules_);
    append(file, groups_);
    append(file, states_);
    append(file, sites_);
    append(file, conjunctions_);
    append(file, checked_);
    append(file, relaxations_);
    h.file_size = file.size();
    std::memcpy(file.data(), &h, sizeof h);
    seal(file);
    return file;
  }

  // Updates the checksum after a test has changed the body.
  static void seal(std::vector<std::byte>& file) {
    const uint32_t crc = base::crc32(std::span(file).subspan(sizeof(Header)));
    std::memcpy(file.data() + offsetof(Header, crc), &crc, sizeof crc);
  }

 private:
  template <typename Record>
  static void append(std::vector<std::byte>& file, const std::vector<Record>& records) {
    const auto* from = reinterpret_cast<const std::byte*>(records.data());
    file.insert(file.end(), from, from + records.size() * sizeof(Record));
  }

  uint32_t flags_ = 0;
  std::vector<Module> modules_;
  std::vector<Group> groups_;
  std::vector<State> states_{
      State{0, 0, 0, 0, Rule::kEnd, 0, kVerdictUndecided, 0, 0, 0}};  // the root
  std::vector<Site> sites_;
  std::vector<Conjunction> conjunctions_;
  std::vector<CheckedModule> checked_;
  std::vector<Relaxation> relaxations_;
};

// The sentence with which a plan is refused; empty if it is not.
inline std::string problem_with(const std::vector<std::byte>& file) {
  PlanView view;
  const char* problem = validate(file, view);
  return problem == nullptr ? "" : problem;
}

}  // namespace halo::plan
