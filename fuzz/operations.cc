// The operations, one function each.
#include "fuzz/operations.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "fuzz/faults.h"
#include "fuzz/finding.h"

namespace halo::fuzz {
namespace {

constexpr unsigned kMembers = 5;
constexpr size_t kMaxBytes = size_t{16} << 20;  // of all allocations of a sequence
constexpr unsigned kMaxForks = 2;
constexpr unsigned kBurstSteps = 400;
constexpr int kSomeErrno = 4321;

// The minimum alignment of a block of that size: the largest power of two that divides it.
size_t natural_alignment(size_t size) {
  const size_t rounded = size == 0 ? 8 : (size + 7) & ~size_t{7};
  return std::min<size_t>(rounded & (~rounded + 1), 16);
}

}  // namespace

Operations::Operations(Allocator& allocator, Bytes input)
    : allocator_(allocator), in_(input), workers_(kMembers) {}

void Operations::run() {
  while (!in_.empty()) {
    turn_over_ = false;
    workers_.run(member_, [this] {
      while (!in_.empty() && !turn_over_) step();
    });
    if (after_turn_ == AfterTurn::kEndMember) end_member();
    if (after_turn_ == AfterTurn::kRunTogether) run_together();
    after_turn_ = AfterTurn::kNothing;
  }
  disarm_faults();
  free_all();
  check_all();
}

void Operations::step() {
  struct Choice {
    unsigned below;
    void (Operations::*act)();
  };
  static constexpr Choice kChoices[] = {
      {80, &Operations::allocate},
      {105, &Operations::allocate_zeroed},
      {115, &Operations::allocate_by_new},
      {122, &Operations::allocate_aligned},
      {130, &Operations::reallocate},
      {138, &Operations::allocate_run},
      {205, &Operations::free_one},
      {215, &Operations::free_run},
      {218, &Operations::free_all},
      {228, &Operations::check_block},
      {229, &Operations::check_all},
      {242, &Operations::switch_member},
      {246, &Operations::end_turn_and_thread},
      {250, &Operations::arm},
      {254, &Operations::end_turn_and_run_together},
      {256, &Operations::fork_once},
  };
  const unsigned byte = in_.byte();
  for (const Choice& choice : kChoices)
    if (byte < choice.below) return (this->*choice.act)();
}

size_t Operations::size() {
  const unsigned kind = in_.byte();
  const size_t max = allocator_.max_size();
  if (kind < 128) return kind;
  if (kind < 200) return std::min<size_t>(16 * (kind - 127), max);
  if (kind < 208) return max - (kind - 200);
  return in_.below(static_cast<uint32_t>(max + 1));
}

bool Operations::may_request(size_t bytes) {
  bytes_asked_ += bytes;
  return bytes_asked_ <= kMaxBytes;
}

std::optional<Block> Operations::checked(Block block, size_t alignment, unsigned faults_before) {
  if (block.at == nullptr) {
    require(allocator_.may_refuse() || last_words_ || faults_struck() != faults_before,
            "an allocation was refused although nothing failed");
    return std::nullopt;
  }
  require(reinterpret_cast<uintptr_t>(block.at) % alignment == 0, "a block is misaligned");
  block.usable = allocator_.usable_size(block.at);
  require(block.usable >= block.requested, "a block is smaller than requested");
  return block;
}

void Operations::take(Block block, size_t alignment, unsigned faults_before) {
  const auto taken = checked(block, alignment, faults_before);
  if (!taken) return;
  fill(*taken);
  model_.add(*taken);
}

void Operations::allocate() {
  const unsigned from = site();
  const size_t requested = size();
  if (!may_request(requested)) return;
  const unsigned faults = faults_struck();
  auto* p = static_cast<char*>(allocator_.allocate(from, requested));
  take({p, requested, 0, from, false, pattern()}, natural_alignment(requested), faults);
}

void Operations::allocate_zeroed() {
  const unsigned from = site();
  const size_t requested = size();
  if (!may_request(requested)) return;
  const unsigned faults = faults_struck();
  auto* p = static_cast<char*>(allocator_.allocate_zeroed(from, requested));
  if (p != nullptr)
    require(std::count(p, p + requested, 0) == static_cast<ptrdiff_t>(requested),
            "zeroed memory is not zero");
  take({p, requested, 0, from, false, pattern()}, natural_alignment(requested), faults);
}

void Operations::allocate_by_new() {
  const unsigned from = site();
  const size_t requested = size();
  if (!may_request(requested)) return;
  const unsigned faults = faults_struck();
  auto* p = static_cast<char*>(allocator_.allocate_by_new(from, requested));
  take({p, requested, 0, from, true, pattern()}, natural_alignment(requested), faults);
}

void Operations::allocate_aligned() {
  const unsigned from = site();
  const size_t alignment = std::min(size_t{8} << in_.below(10), allocator_.max_alignment());
  const size_t requested = size();
  if (!may_request(requested)) return;
  const unsigned faults = faults_struck();
  auto* p = static_cast<char*>(allocator_.allocate_aligned(from, alignment, requested));
  take({p, requested, 0, from, false, pattern()}, alignment, faults);
}

// Many equal blocks, which fill pages.
void Operations::allocate_run() {
  const unsigned from = site();
  const size_t requested = size();
  for (unsigned left = 4 * in_.byte(); left != 0 && may_request(requested); --left) {
    const unsigned faults = faults_struck();
    auto* p = static_cast<char*>(allocator_.allocate(from, requested));
    take({p, requested, 0, from, false, pattern()}, natural_alignment(requested), faults);
  }
}

void Operations::reallocate() {
  const unsigned from = site();
  const size_t requested = std::max<size_t>(size(), 1);
  if (model_.size() == 0 || !may_request(requested)) return;
  const size_t index = in_.below(static_cast<uint32_t>(model_.size()));
  if (model_[index].from_new) return;
  const Block old = model_.remove(index);
  const unsigned faults = faults_struck();
  auto* p = static_cast<char*>(allocator_.reallocate(from, old, requested));
  const Block moved{p, requested, 0, from, false, old.pattern};
  const auto taken = checked(moved, natural_alignment(requested), faults);
  if (!taken) return model_.add(old);
  require(intact(*taken, std::min(old.requested, requested)), "reallocation lost contents");
  fill(*taken);
  model_.add(*taken);
}

void Operations::release(unsigned way, const Block& block) {
  errno = kSomeErrno;
  allocator_.release(way, block);
  require(errno == kSomeErrno, "freeing a block changed errno");
}

void Operations::free_one() {
  if (model_.size() == 0) return;
  const size_t index = in_.below(static_cast<uint32_t>(model_.size()));
  release(in_.byte(), model_.remove(index));
}

void Operations::free_run() {
  const unsigned stride = 1 + in_.below(4);
  unsigned left = 4 * in_.byte();
  for (size_t index = in_.word(); left != 0 && model_.size() != 0; --left, index += stride)
    release(left, model_.remove(index % model_.size()));
}

void Operations::free_all() {
  while (model_.size() != 0) release(patterns_, model_.remove(model_.size() - 1));
}

void Operations::check_block() {
  if (model_.size() == 0) return;
  const Block& block = model_[in_.below(static_cast<uint32_t>(model_.size()))];
  require(allocator_.usable_size(block.at) == block.usable, "a block's size changed");
  require(intact(block, block.usable), "a live block was written over");
}

void Operations::check_all() {
  model_.check_contents();
  allocator_.check(model_);
}

void Operations::switch_member() {
  member_ = in_.below(workers_.size());
  turn_over_ = true;
}

void Operations::end_turn_and_thread() {
  after_turn_ = AfterTurn::kEndMember;
  turn_over_ = true;
}

void Operations::end_turn_and_run_together() {
  after_turn_ = AfterTurn::kRunTogether;
  turn_over_ = true;
}

void Operations::arm() {
  const unsigned passing = in_.below(8);
  arm_faults(passing, in_.below(6));
}

void Operations::end_member() {
  last_words_ = true;  // in an ending thread the groups may refuse: such blocks are forwarded
  workers_.end(member_, [this] {
    allocate();
    free_one();
    allocate();
  });
  last_words_ = false;
  member_ = 0;
}

// A copy of the process has the same blocks and continues to allocate, with only this thread left.
void Operations::fork_once() {
  if (++forks_ > kMaxForks) return;
  const pid_t child = fork();
  require(child >= 0, "fork failed");
  if (child == 0) {
    model_.check_contents();
    const size_t before = model_.size();
    for (size_t i = 0; i < 64; ++i) {
      const unsigned from = static_cast<unsigned>(i) % allocator_.sites();
      const unsigned faults = faults_struck();
      auto* p = static_cast<char*>(allocator_.allocate(from, 8 * i));
      take({p, 8 * i, 0, from, false, pattern()}, natural_alignment(8 * i), faults);
    }
    while (model_.size() > before / 2) release(0, model_.remove(model_.size() - 1));
    model_.check_contents();
    _exit(0);
  }
  const int status = status_of(child);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child could not go on");
}

void Operations::run_together() {
  uint32_t seeds[kMembers];
  for (uint32_t& seed : seeds) seed = in_.word();
  workers_.run_all([&](unsigned member) { burst(seeds[member]); });
  for (const Block& block : std::exchange(parcels_, {})) model_.add(block);
}

// Blocks change owners all the time; the remaining ones go to the model.
void Operations::burst(uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<Block> mine;
  const auto pass_on = [&](size_t index) {
    const std::lock_guard lock(parcels_mutex_);
    parcels_.push_back(mine[index]);
    if (random() % 4 != 0) std::swap(parcels_.back(), parcels_[random() % parcels_.size()]);
    mine[index] = mine.back();
    mine.pop_back();
    if (parcels_.size() < 64) return;
    mine.push_back(parcels_.back());
    parcels_.pop_back();
  };
  for (unsigned i = 0; i < kBurstSteps; ++i) {
    if (mine.empty() || random() % 2 == 0) {
      const auto from = static_cast<unsigned>(random() % allocator_.sites());
      const size_t requested =
          random() % 16 == 0 ? random() % allocator_.max_size() : 8 * (random() % 12);
      const unsigned faults = faults_struck();
      auto* p = static_cast<char*>(allocator_.allocate(from, requested));
      const Block block{p, requested, 0, from, false, static_cast<uint8_t>(random())};
      const auto taken = checked(block, natural_alignment(requested), faults);
      if (!taken) continue;
      fill(*taken);
      mine.push_back(*taken);
    } else if (random() % 2 == 0) {
      pass_on(random() % mine.size());
    } else {
      const Block block = mine.back();
      mine.pop_back();
      require(intact(block, block.usable), "a live block was written over");
      release(i, block);
    }
  }
  const std::lock_guard lock(parcels_mutex_);
  parcels_.insert(parcels_.end(), mine.begin(), mine.end());
}

Input make_operations(Random& random) {
  constexpr size_t kLengths[] = {64, 256, 1024, 1024, 4096, 16384};
  Input input(1 + random() % kLengths[random() % std::size(kLengths)]);
  for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  return input;
}

}  // namespace halo::fuzz
