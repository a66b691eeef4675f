// The names of jemalloc's mallctl that ask about blocks: its own look-ups end in a segmentation
// fault for a block that it has not served.
#pragma once

#include <cstddef>

#include "runtime/base/exported.h"

namespace halo::runtime::statistics {

// The arguments of mallctl behind the name.
struct Question {
  void* old;
  size_t* old_bytes;
  void* now;
  size_t now_bytes;
};

// Asks jemalloc.
class AskNative {
 public:
  template <typename Function>
  AskNative(const Function& function)  // NOLINT(google-explicit-constructor)
      : function_(&function), call_([](const void* of, const Question& question) {
          return (*static_cast<const Function*>(of))(question);
        }) {}
  int operator()(const Question& question) const { return call_(function_, question); }

 private:
  const void* function_;
  int (*call_)(const void*, const Question&);
};

// Each answers what is asked about blocks of the runtime, and has jemalloc answer the rest. The
// result is mallctl's.
using AskAboutBlocks = int(const Question& question, AskNative native);

// "arenas.lookup": blocks of the runtime are in arena 0.
HALO_HIDDEN AskAboutBlocks look_up_arena;
// "experimental.utilization.query": each block of the runtime is alone in its extent, so programs
// that move blocks into fuller extents leave it where it is.
HALO_HIDDEN AskAboutBlocks query_utilization;
// "experimental.utilization.batch_query": likewise of several blocks.
HALO_HIDDEN AskAboutBlocks query_utilizations;

}  // namespace halo::runtime::statistics
