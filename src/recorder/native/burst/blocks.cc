// Maps and fills the cache.
#include "recorder/native/burst/blocks.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/system_call.h"

namespace halo::native {

namespace {

// What one block may need at most.
constexpr uint64_t kCodeMargin = 16 << 10;
constexpr uint32_t kMargin = 256;

Block nowhere;

uint8_t* map(uint64_t bytes, int rights) {
  const int64_t made = system_call(SYS_mmap, 0, bytes, uint64_t(rights),
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, uint64_t(-1), 0);
  return made < 0 ? nullptr : reinterpret_cast<uint8_t*>(made);
}

template <class T>
T* take(uint8_t*& at, uint64_t count) {
  T* taken = reinterpret_cast<T*>(at);
  at += (count * sizeof(T) + 63) / 64 * 64;
  return taken;
}

}  // namespace

bool BlockCache::map() {
  // Jumps through exits are relative to the code.
  const uint64_t with_exits = kCodeBytes + kMaxExits * sizeof(Exit);
  code_ = native::map(with_exits, PROT_READ | PROT_WRITE | PROT_EXEC);
  if (code_ == nullptr) return false;
  exits_ = reinterpret_cast<Exit*>(code_ + kCodeBytes);
  const uint64_t bytes = kMaxBlocks * sizeof(Block) + kMaxOperands * sizeof(Operand) +
                         kMaxPlaces * sizeof(Place) + (8ull << kTableBits) + (8ull << kTargetBits);
  uint8_t* at = native::map(bytes + 4096, PROT_READ | PROT_WRITE);
  if (at == nullptr) return false;
  blocks_ = take<Block>(at, kMaxBlocks);
  operands_ = take<Operand>(at, kMaxOperands);
  places_ = take<Place>(at, kMaxPlaces);
  table_ = take<std::atomic<Block*>>(at, 1u << kTableBits);
  targets_ = take<std::atomic<Block*>>(at, 1u << kTargetBits);
  first_ = next_ = code_;
  clear();
  return true;
}

bool BlockCache::is_full() const {
  return uint64_t(next_ - code_) + kCodeMargin > kCodeBytes || exit_count_ + 4 > kMaxExits ||
         block_count_ + 1 > kMaxBlocks || operand_count_ + kMargin > kMaxOperands ||
         place_count_ + kMargin > kMaxPlaces;
}

void BlockCache::clear() {
  next_ = first_;
  exit_count_ = block_count_ = operand_count_ = place_count_ = 0;
  for (uint64_t at = 0; at < 1u << kTableBits; ++at)
    table_[at].store(nullptr, std::memory_order_relaxed);
  for (uint64_t at = 0; at < 1u << kTargetBits; ++at)
    targets_[at].store(&nowhere, std::memory_order_relaxed);
}

// Blocks with code have it in the order of their numbers.
const Block* BlockCache::containing(uint64_t code) const {
  uint32_t low = 0, high = block_count_;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    uint32_t known = middle;
    while (known < high && blocks_[known].code == nullptr) ++known;
    if (known < high && reinterpret_cast<uint64_t>(blocks_[known].code) <= code) {
      low = known + 1;
    } else {
      high = middle;
    }
  }
  while (low > 0 && blocks_[low - 1].code == nullptr) --low;
  if (low == 0) return nullptr;
  const Block& found = blocks_[low - 1];
  return code - reinterpret_cast<uint64_t>(found.code) < found.code_bytes ? &found : nullptr;
}

Block& BlockCache::begin_block(uint64_t source) {
  Block& block = blocks_[block_count_++];
  block = Block{
      .source = source, .operands = operands_ + operand_count_, .places = places_ + place_count_};
  return block;
}

void BlockCache::publish(Block& block) {
  operand_count_ += block.operand_count;
  place_count_ += block.place_count;
  if (block.code != nullptr) next_ += block.code_bytes;
  std::atomic<Block*>& first = table_[hash(block.source)];
  block.next = first.load(std::memory_order_relaxed);
  first.store(&block, std::memory_order_release);
}

}  // namespace halo::native
