// Memory for each thread, and sending.
#include "recorder/valgrind/pending_calls.h"

#include "recorder/channel/word.h"
#include "recorder/valgrind/memory.h"

namespace halo::valgrind {

using channel::Word;
using channel::WordKind;

bool PendingCalls::reserve_threads(uint32_t count) {
  threads_ = reserve<Thread>(count);
  count_ = count;
  return threads_ != nullptr;
}

uint64_t PendingCalls::resume(ThreadId thread, uint64_t end, Sender& sender) {
  Thread& its = threads_[thread];
  if (!its.has_end) {
    if (its.begin == nullptr) {
      // A call before the first entry, which no return matches.
      auto* room = reserve_outside<Call>(kRoomBytes / sizeof(Call));
      if (room == nullptr) {
        VG_(umsg)("halo: too little address space for a thread's calls\n");
        VG_(exit)(1);
      }
      its.begin = room + 1;
    }
    its.has_end = true;
    return reinterpret_cast<uint64_t>(its.begin);
  }
  const uint64_t used = end - reinterpret_cast<uint64_t>(its.begin);
  return used < kSparedBytes ? end : send(thread, end, sender);
}

uint64_t PendingCalls::send(ThreadId thread, uint64_t end, Sender& sender) {
  Call* begin = threads_[thread].begin;
  for (const Call* call = begin; reinterpret_cast<uint64_t>(call) < end; ++call) {
    sender.make_room();
    if (call->slot == 0) {
      sender.put(Word::make(WordKind::kStackMoved, 0));
    } else {
      sender.put(Word::make(WordKind::kCall, call->slot));
      sender.put_raw(call->return_address);
    }
  }
  return reinterpret_cast<uint64_t>(begin);
}

uint64_t PendingCalls::on_stack_moved(uint64_t end) {
  auto* call = reinterpret_cast<Call*>(end);
  *call = {0, 0};
  return reinterpret_cast<uint64_t>(call + 1);
}

}  // namespace halo::valgrind
