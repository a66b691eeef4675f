// The events to log for a function, and their sites.
#pragma once

#include <optional>
#include <vector>

#include "tracing/pass/access.h"
#include "tracing/pass/options.h"
#include "tracing/pass/places.h"
#include "tracing/pass/site_notes.h"

namespace halo::pass {

struct PlannedAccess {
  Access access;
  uint32_t site;
};

inline constexpr uint64_t kCookie = 8;  // bytes

struct PlannedAllocation {
  llvm::CallBase* call;
  Allocator allocator;
  uint64_t element_size;  // 0: unknown
  bool has_cookie;        // new[] stores the number of elements before them
  uint32_t site;
};

struct PlannedExit {
  llvm::Instruction* before;
  uint32_t site;
};

struct FunctionPlan {
  std::vector<PlannedAccess> accesses;
  std::vector<PlannedAllocation> allocations;
  std::optional<uint32_t> enter;
  std::vector<PlannedExit> exits;
};

class Planner {
 public:
  Planner(const Options& options, TypeNames& names, SiteNotes& notes)
      : options_(options), names_(names), notes_(notes) {}

  FunctionPlan plan(llvm::Function& function);

 private:
  void plan_accesses(FunctionPlan& plan, Places& places, llvm::Instruction& at);
  void plan_allocation(FunctionPlan& plan, Places& places, llvm::CallBase& call);
  void plan_calls(FunctionPlan& plan, llvm::Function& function);
  // Empty if the filters exclude it.
  std::optional<SiteNote> site(trace::SiteKind kind, const llvm::Function& function,
                               const llvm::DILocation* where) const;

  const Options& options_;
  TypeNames& names_;
  SiteNotes& notes_;
};

}  // namespace halo::pass
