// Walks the stack with libgcc's unwinder, which takes no lock and allocates nothing with this libc.
#include "tracing/library/uninstrumented_frames.h"

#include <unwind.h>

#include "tracing/library/module_table.h"

namespace halo::logging {

namespace {

struct Walk {
  uint64_t slot;  // of the allocation's call; frames below it are the library's
  std::span<trace::Logged> room;
  size_t used = 0;
  bool callee_instrumented = false;
  bool begun = false;
};

// Called for each function on the stack, with its continuation address.
_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const uint64_t code = _Unwind_GetIP(context);
  const uint64_t slot = _Unwind_GetCFA(context) - sizeof(uint64_t);
  if (slot < walk.slot) return _URC_NO_REASON;
  const bool instrumented = modules.is_instrumented(code);
  // The return address belongs to the function below.
  if (walk.begun && !walk.callee_instrumented) {
    if (walk.used == walk.room.size()) return _URC_END_OF_STACK;
    walk.room[walk.room.size() - ++walk.used] = {uint64_t(trace::Marker::kFrame), slot, code};
  }
  if (walk.begun && walk.callee_instrumented && instrumented) return _URC_END_OF_STACK;
  walk.begun = true;
  walk.callee_instrumented = instrumented;
  return _URC_NO_REASON;
}

}  // namespace

std::span<trace::Logged> uninstrumented_frames(uint64_t slot, std::span<trace::Logged> room) {
  Walk walk{.slot = slot, .room = room};
  _Unwind_Backtrace(visit, &walk);
  return room.last(walk.used);
}

}  // namespace halo::logging
