// The events of lists, trees, arrays, recursion and random accesses.
#include "tools/synthetic_events.h"

#include <algorithm>

namespace halo::trace {
namespace {

constexpr uint64_t kListNodes = 20000;   // { next, key, count }
constexpr uint64_t kTreeNodes = 100000;  // { key, left, right, parent }
constexpr uint64_t kArrayWords = 200000;

}  // namespace

SyntheticProgram::SyntheticProgram(std::string_view pattern, uint64_t seed)
    : pattern_(pattern), random_(seed) {
  using enum SiteKind;
  for (const SiteKind kind : {kLoad, kLoad, kLoad, kStore, kLoad, kUpdate}) {
    site(kind, uint16_t(kind == kUpdate ? 4 : 8));
  }
  for (const SiteKind kind : {kEnter, kExit, kReadRange, kWriteRange}) site(kind, 0);
  site(kLoad, 4);
  site(kStore, 1);
  for (size_t at = 0; at < sites_.size(); ++at) s_[at] = kMarkers + at;
  if (pattern == "list") make_list();
  if (pattern == "tree") make_tree();
  out_.clear();
}

uint64_t SyntheticProgram::site(SiteKind kind, uint16_t bytes) {
  sites_.push_back({.kind = uint8_t(kind), .size = bytes});
  return kMarkers + sites_.size() - 1;
}

uint64_t SyntheticProgram::load(uint64_t site, uint64_t address) {
  const uint64_t value = memory_[address];
  log(site, address, value);
  return value;
}

void SyntheticProgram::store(uint64_t site, uint64_t address, uint64_t value) {
  memory_[address] = value;
  log(site, address, value);
}

uint64_t SyntheticProgram::allocate(uint64_t bytes) {
  const uint64_t at = heap_;
  heap_ += bytes + random_() % 4 * 16;
  log(uint64_t(Marker::kAlloc), at, bytes);
  return at;
}

void SyntheticProgram::make_list() {
  std::vector<uint64_t> nodes;
  for (uint64_t i = 0; i < kListNodes; ++i) nodes.push_back(allocate(24));
  std::shuffle(nodes.begin(), nodes.end(), random_);
  for (uint64_t i = 0; i < kListNodes; ++i) {
    memory_[nodes[i]] = i % 100 == 99 ? 0 : nodes[(i + 1) % kListNodes];
    memory_[nodes[i] + 8] = random_() % 1000;
    if (i % 100 == 0) roots_.push_back(nodes[i]);
  }
}

void SyntheticProgram::make_tree() {
  for (uint64_t i = 0; i < kTreeNodes; ++i) {
    const uint64_t node = allocate(32), key = random_();
    memory_[node] = key;
    if (roots_.empty()) roots_.push_back(node);
    for (uint64_t at = roots_[0]; at != node;) {
      uint64_t& next = memory_[at + (key < memory_[at] ? 8 : 16)];
      if (next == 0) next = node;
      at = next;
    }
  }
}

void SyntheticProgram::walk_list() {
  for (uint64_t node = roots_[random_() % roots_.size()]; node != 0; node = load(s_[0], node)) {
    if (load(s_[1], node + 8) < 500) {
      store(s_[3], node + 16, load(s_[2], node + 16) + 1);
    }
  }
}

void SyntheticProgram::search_tree() {
  const uint64_t key = random_();
  for (uint64_t node = roots_[0]; node != 0;) {
    const bool left = key < load(s_[0], node);
    node = left ? load(s_[1], node + 8) : load(s_[2], node + 16);
  }
}

void SyntheticProgram::scan_array() {
  const uint64_t from = heap_, to = heap_ + kArrayWords * 8;
  for (uint64_t at = 0; at < kArrayWords; ++at) {
    store(s_[3], to + at * 8, load(s_[0], from + at * 8) + at);
    if (random_() % 8 == 0) load(s_[4], to + random_() % kArrayWords * 8);
  }
}

void SyntheticProgram::call(unsigned depth) {
  const uint64_t slot = stack_;
  const uint64_t caller = 0x401000 + depth % 3 * 64;
  log(s_[6], slot, caller);
  stack_ -= 48;
  store(s_[3], slot - 16, depth);
  if (depth != 0) {
    call(depth - 1);
    if (random_() % 2 == 0) call(depth - 1);
  }
  load(s_[0], slot - 16);
  stack_ += 48;
  log(s_[7], slot, caller);
}

void SyntheticProgram::any() {
  log(s_[random_() % 12], random_() >> random_() % 64, random_() >> random_() % 64);
}

void SyntheticProgram::one_round() {
  if (pattern_ == "list") return walk_list();
  if (pattern_ == "tree") return search_tree();
  if (pattern_ == "array") return scan_array();
  if (pattern_ == "calls") return call(12);
  any();
}

std::vector<Logged> SyntheticProgram::run(size_t minimum) {
  out_.clear();
  while (out_.size() < minimum) one_round();
  return std::move(out_);
}

}  // namespace halo::trace
