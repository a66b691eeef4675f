// Reduced call stacks of all threads of a process; each is stored once and identified by a number.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "recorder/contexts/code/memory_map.h"
#include "recorder/contexts/code/module_table.h"
#include "recorder/contexts/shadow_stack.h"

namespace halo::record {

// A call site, identified by its return address.
struct FrameInfo {
  CodePlace place;
  int64_t distance = 0;  // up to the slot of the next return address; 0: none seen, -1: varies
};

struct NodeInfo {
  uint32_t parent;
  uint32_t frame;
};

// A reduced stack contains the innermost occurrence of each return address only. So reduced(stack +
// [r]) = reduced(stack) without r, + [r].
class ContextTable {
 public:
  static constexpr uint32_t kOverflow = UINT32_MAX;  // the table is full: this stack has no number
  static constexpr uint32_t kNoFrame = UINT32_MAX;

  explicit ContextTable(CodeSource code, uint32_t max_nodes = 4u << 20);

  // The reduced stack `node` extended by one call. `distance` as in FrameInfo.
  uint32_t extend(uint32_t node, uint64_t return_address, int64_t distance);

  // The code in this range is unmapped; its return addresses may have another meaning later.
  void drop_code(AddressRange range);
  void mappings_changed() { modules_.mappings_changed(); }
  // Reads the mappings, if none that is known contains that code.
  void find_code(uint64_t address);
  // The program has mapped memory for code that it generates.
  void code_generated() { generates_code_ = true; }
  bool generates_code() const { return generates_code_; }
  // Changes whenever code is dropped.
  uint64_t generation() const { return generation_; }

  // The frame of that return address.
  uint32_t frame_of(uint64_t return_address);
  const std::vector<FrameInfo>& frames() const { return frames_; }
  const std::vector<NodeInfo>& nodes() const { return nodes_; }
  // Reads the mappings again, for modules without a return address in the table.
  void read_mappings() { modules_.read_if_changed(); }
  const std::vector<Module>& modules() const { return modules_.modules(); }

 private:
  uint32_t make(uint32_t parent, uint32_t frame);

  const uint32_t max_nodes_;
  uint64_t generation_ = 0;
  bool generates_code_ = false;
  ModuleTable modules_;
  bool code_outside_files_ = false;
  std::vector<FrameInfo> frames_;
  std::vector<NodeInfo> nodes_;
  std::unordered_map<uint64_t, uint32_t> frame_at_;     // by return address
  std::unordered_map<uint64_t, uint32_t> frame_named_;  // by module and offset
  std::unordered_map<uint64_t, uint32_t> node_of_;      // by parent and frame
};

// A thread's access to the table: caches recent extensions.
class ContextResolver {
 public:
  explicit ContextResolver(ContextTable& table) : table_(table), cache_(kCacheSize) {}

  // The reduced stack of the frames whose slots are at or above `slot`; 0 if it has no number.
  base::NodeId resolve(std::vector<ShadowFrame>& frames, uint64_t slot);

 private:
  static constexpr size_t kCacheSize = 1 << 15;

  struct Entry {
    uint64_t return_address = 0;
    int64_t distance = 0;
    uint32_t node = 0;
    uint32_t result = 0;
  };

  uint32_t extend(uint32_t node, uint64_t return_address, int64_t distance);

  ContextTable& table_;
  std::vector<Entry> cache_;
  uint64_t generation_ = 0;
};

}  // namespace halo::record
