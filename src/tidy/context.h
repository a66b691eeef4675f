// A context: the heaps of one structure's objects.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/single_threaded.h"
#include "tidy/keys.h"
#include "tidy/shared_heap.h"

namespace halo::tidy {

struct ContextSettings {
  HeapSettings heap;
  KeyMaker keys;
  bool thread_local_heaps = false;
};

// All threads allocate from one heap. A thread that finds it busy allocates from a heap of its own
// for a while; with `thread_local_heaps`, always. The heap of a thread that has ended is another
// thread's later.
//
// Concurrency. The registry of contexts has a mutex, for what is rare: making and destroying, ends
// of threads, and forks. `heaps_` is a list to which heaps are only added, by CAS (release). A heap
// belongs to the thread that set its `owner` by a CAS (acquire).
struct ThreadPlace;

class Context {
 public:
  // Reserves the memory of all contexts, once. False if it is refused.
  static bool open();
  // nullptr if memory is refused. Only after open().
  static Context* make(const ContextSettings& settings);
  // Returns all memory, also that of the context. No other thread uses it, meanwhile or afterwards.
  void destroy();

  // A block of 1 to max_bytes() bytes; nullptr if memory is refused.
  void* allocate(const uint64_t* key, uint32_t bytes) {
    if (!settings_.thread_local_heaps && is_single_threaded()) [[likely]] {
      const SharedHeap::Served served = shared_->allocate(key, bytes);
      if (served.answer != SharedHeap::Answer::kBusy) return served.block;
    }
    return allocate_among_threads(key, bytes);
  }
  void* allocate_near(const void* near, uint32_t bytes);

  uint64_t key(const unsigned* hint) const { return settings_.keys.key(hint); }
  uint32_t max_bytes() const { return settings_.heap.bucket_bytes; }

  void count_forwarded() { forwarded_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t forwarded() const { return forwarded_.load(std::memory_order_relaxed); }
  void count(HeapCounts& counts, uint64_t& resident);

  // Never 0, and no earlier context's; modulo kMaxContexts, no other existing context's.
  uint64_t number() const { return number_; }

  // Returns the heaps of an ending thread to their contexts.
  static void end_thread(const ThreadPlace* places);

  // Around a fork, in all contexts: see SharedHeap::enter_for_fork.
  static void before_fork();
  static void after_fork();
  static void after_fork_in_child();

  // Of the contexts of rules (rules.cc). It is locked before the contexts' own mutex, and during a
  // fork, after which a child can use these contexts.
  static pthread_mutex_t rules_mutex;

  static constexpr uint32_t kMaxContexts = 256;

 private:
  explicit Context(const ContextSettings& settings) : settings_(settings) {}

  void* allocate_among_threads(const uint64_t* key, uint32_t bytes);
  SharedHeap* add_heap(uintptr_t owner);
  SharedHeap* own_heap();

  const ContextSettings settings_;
  uint64_t number_ = 0;
  SharedHeap* shared_ = nullptr;
  std::atomic<SharedHeap*> heaps_{nullptr};  // all of them
  std::atomic<uint64_t> forwarded_{0};
};

}  // namespace halo::tidy
