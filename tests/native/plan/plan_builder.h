// Builds compact plans in memory for tests.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "plan/plan_file.h"

namespace halo::plan {

class PlanBuilder {
 public:
  PlanBuilder& module(std::uint8_t id) {
    Module m{};
    m.build_id[0] = id;
    m.build_id_length = 20;
    modules_.push_back(m);
    return *this;
  }
  PlanBuilder& group(Reuse reuse = Reuse::newest_first) {
    groups_.push_back({0, reuse, 0});
    return *this;
  }
  // Adds a state and returns its number.
  std::uint32_t state(std::uint32_t parent, std::uint64_t offset, std::uint16_t verdict,
                      std::int32_t step = 16, Rule rule = Rule::constant) {
    State s{};
    s.parent = parent;
    s.offset = offset;
    s.verdict = verdict;
    s.step = step;
    s.rule = rule;
    states_.push_back(s);
    return static_cast<std::uint32_t>(states_.size() - 1);
  }
  State& at(std::uint32_t state) { return states_[state]; }
  std::span<const State> states() const { return states_; }

  std::vector<std::byte> bytes() const {
    Header h{};
    std::memcpy(h.magic, magic, sizeof magic);
    h.version = version;
    h.modules = static_cast<std::uint32_t>(modules_.size());
    h.groups = static_cast<std::uint32_t>(groups_.size());
    h.states = static_cast<std::uint32_t>(states_.size());
    h.max_object = 4096;
    std::vector<std::byte> file(sizeof h);
    append(file, modules_);
    append(file, groups_);
    append(file, states_);
    h.file_size = file.size();
    std::memcpy(file.data(), &h, sizeof h);
    seal(file);
    return file;
  }

  // Makes the checksum right again after a test has changed the body.
  static void seal(std::vector<std::byte>& file) {
    const std::uint32_t crc = crc32(std::span(file).subspan(sizeof(Header)));
    std::memcpy(file.data() + offsetof(Header, crc), &crc, sizeof crc);
  }

 private:
  template <typename Record>
  static void append(std::vector<std::byte>& file, const std::vector<Record>& records) {
    const auto* from = reinterpret_cast<const std::byte*>(records.data());
    file.insert(file.end(), from, from + records.size() * sizeof(Record));
  }

  std::vector<Module> modules_;
  std::vector<Group> groups_;
  std::vector<State> states_{
      State{0, 0, 0, 0, Rule::end, 0, verdict_undecided, 0, 0, 0}};  // the root
};

}  // namespace halo::plan
