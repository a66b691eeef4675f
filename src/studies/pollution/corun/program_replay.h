// Replays an object trace through the private levels of a machine: what the program asks of the
// shared last level.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/mapped_array.h"
#include "recorder/objects/visitor.h"
#include "simulator/hierarchy.h"
#include "simulator/machine.h"
#include "studies/pollution/corun/stream_format.h"

namespace halo::corun {

// A request for a line, and the object that has it; 0: memory outside objects.
struct Request {
  RequestKind kind;
  simulator::Block line;
  uint64_t object;
};

// What happens during a replay, in order. Objects are allocation numbers.
class ReplayObserver {
 public:
  virtual void allocated(const objects::Allocation& /*one*/) {}
  virtual void freed(uint64_t /*object*/) {}
  // Before the requests of that access.
  virtual void accessed(uint64_t /*object*/, uint32_t /*offset*/) {}
  virtual void requested(const Request& request) = 0;
  // After each access and its requests.
  virtual void passed() {}

 protected:
  ~ReplayObserver() = default;
};

// The levels of a machine without its last one. Throws std::invalid_argument if there is none.
simulator::Machine private_levels(simulator::Machine machine);

// Visits a trace. The program's own clock has a cycle for each access, repeats included, and the
// costs of TLB misses and of hits in the private levels, but not those of the last level. A line
// is one object's, whichever is accessed, as it is never in two pools: that of the first one in it
// when it is requested, as long as that one lives.
class ProgramReplay : public objects::Visitor, private simulator::Memory {
 public:
  // `machine`: of all levels. Accesses from number `limit` on are ignored, and so is all behind
  // them. `observer` must outlive the replay.
  ProgramReplay(const simulator::Machine& machine, uint64_t limit, ReplayObserver& observer)
      : machine_(private_levels(machine)),
        line_bytes_(machine.line),
        limit_(limit),
        observer_(observer),
        hierarchy_(machine_, this) {}

  void allocate(const objects::Allocation& one);
  void define(const objects::Allocation& one) { allocate(one); }
  void free(uint64_t number);
  void huge_pages(uint64_t address, uint64_t bytes) { hierarchy_.use_huge_pages(address, bytes); }
  void access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    if (is_over()) return;
    observer_.accessed(number, offset);
    simulate(addresses_[number] + offset, size, store);
  }
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
    if (!is_over()) simulate(address, size, store);
  }
  void repeat(base::ThreadId, uint64_t count) {
    if (is_over()) return;
    accesses_ += count;
    cycles_ += count;
  }

  // Whether the limit was reached.
  bool is_over() const { return accesses_ >= limit_; }
  uint64_t accesses() const { return accesses_; }
  uint64_t cycles() const { return cycles_; }

 private:
  void simulate(uint64_t address, uint32_t size, bool store) {
    demands_ = 0;
    ++accesses_;
    ++cycles_;
    touch(address, store);
    const uint64_t last = address + size - 1;
    if (last / line_bytes_ != address / line_bytes_) touch(last, store);
    observer_.passed();
  }

  // One line of an access. Both have a cost, as in Hierarchy::cycles().
  void touch(uint64_t address, bool store) {
    const simulator::Reach reach = hierarchy_.access(address, 1, store);
    cycles_ += hierarchy_.cycles_of(reach);
  }

  void read(simulator::Block line, bool demanded) override;
  void prefetch(simulator::Block line, bool kept) override;
  void write_back(simulator::Block line) override;
  uint64_t owner_of(simulator::Block line);

  simulator::Machine machine_;
  uint32_t line_bytes_;
  uint64_t limit_;
  ReplayObserver& observer_;
  simulator::Hierarchy hierarchy_;
  struct Resident {
    uint64_t end;
    uint64_t object;
  };
  std::map<uint64_t, Resident> live_;                                       // by address
  std::vector<bool> is_live_;                                               // by object
  std::vector<uint64_t> addresses_;                                         // by object
  base::MappedArray<uint32_t> owners_{simulator::kEndOfNames, 1ULL << 16};  // by line
  uint32_t demands_ = 0;  // of the current access so far
  uint64_t accesses_ = 0;
  uint64_t cycles_ = 0;
};

}  // namespace halo::corun
