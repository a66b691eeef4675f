// The registry of contexts, and which heap serves a request.
#include "tidy/context.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/keep_errno.h"
#include "base/old_c_library.h"
#include "tidy/threads.h"

namespace halo::tidy {
namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;
bool is_open = false;

// Number of allocations for which a thread avoids the shared heap after it was busy. The number
// doubles if the heap is busy again before it has served the minimum.
constexpr uint32_t kMinAvoided = 64, kMaxAvoided = 4096;

pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
Context* registry[Context::kMaxContexts];  // by number, modulo its size
uint64_t last_number = 0;

class RegistryLock {
 public:
  RegistryLock() { pthread_mutex_lock(&registry_mutex); }
  ~RegistryLock() { pthread_mutex_unlock(&registry_mutex); }
  RegistryLock(const RegistryLock&) = delete;
  RegistryLock& operator=(const RegistryLock&) = delete;
};

void* map(size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// While two threads use the shared heap alternately, each waits for the cache lines of the other.
// So those that find it busy again and again come back less and less often.
void avoid(ThreadPlace& place) {
  const bool is_contended = place.avoided != 0 && place.served < kMinAvoided;
  place.avoided = is_contended ? std::min(2 * place.avoided, kMaxAvoided) : kMinAvoided;
  place.to_avoid = place.avoided;
  place.served = 0;
}

}  // namespace

bool Context::open() {
  const auto open_memory = [] {
    if (!page_memory.open()) return;
    find_single_threaded();
    prepare_threads();
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    is_open = true;
  };
  return run_once(once, open_memory) && is_open;
}

Context* Context::make(const ContextSettings& settings) {
  const KeepErrno keep;
  void* const memory = map(sizeof(Context));
  if (memory == nullptr) return nullptr;
  auto* const context = new (memory) Context(settings);
  context->shared_ = context->add_heap(SharedHeap::kAllThreads);
  if (context->shared_ != nullptr) {
    const RegistryLock lock;
    for (uint32_t tried = 0; tried < kMaxContexts && context->number_ == 0; ++tried) {
      Context*& entry = registry[++last_number % kMaxContexts];
      if (entry != nullptr) continue;
      entry = context;
      context->number_ = last_number;
    }
  }
  if (context->number_ != 0) return context;
  context->destroy();
  return nullptr;
}

void Context::destroy() {
  const KeepErrno keep;
  if (number_ != 0) {
    const RegistryLock lock;
    registry[number_ % kMaxContexts] = nullptr;
  }
  for (SharedHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;) {
    SharedHeap* const next = heap->next;
    heap->release_all();
    heap->~SharedHeap();
    munmap(heap, sizeof(SharedHeap));
    heap = next;
  }
  this->~Context();
  munmap(this, sizeof(Context));
}

SharedHeap* Context::add_heap(uintptr_t owner) {
  const KeepErrno keep;
  void* const memory = map(sizeof(SharedHeap));
  if (memory == nullptr) return nullptr;
  auto* const heap = new (memory) SharedHeap(this, settings_.heap);
  if (!heap->open()) {
    heap->~SharedHeap();
    munmap(memory, sizeof(SharedHeap));
    return nullptr;
  }
  heap->owner.store(owner, std::memory_order_relaxed);
  heap->next = heaps_.load(std::memory_order_relaxed);
  while (!heaps_.compare_exchange_weak(heap->next, heap, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
  return heap;
}

// For a thread without one: that of a thread that has ended, or a new one.
SharedHeap* Context::own_heap() {
  for (SharedHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
       heap = heap->next) {
    uintptr_t none = SharedHeap::kNoOwner;
    if (heap->owner.compare_exchange_strong(none, pthread_self(), std::memory_order_acquire,
                                            std::memory_order_relaxed))
      return heap;
  }
  return add_heap(pthread_self());
}

// From the shared heap, or from that of the thread.
void* Context::allocate_among_threads(const uint64_t* key, uint32_t bytes) {
  using enum SharedHeap::Answer;
  ThreadPlace* const place = place_in(number_);
  const bool tries_shared =
      !settings_.thread_local_heaps && (place == nullptr || place->to_avoid == 0);
  if (tries_shared) {
    const SharedHeap::Served served = shared_->allocate(key, bytes);
    if (place == nullptr) return served.block;
    if (served.answer != kBusy) {
      place->served += place->served < kMinAvoided;
      return served.block;
    }
    avoid(*place);
  } else if (place == nullptr) {
    return nullptr;
  } else if (place->to_avoid > 0) {
    --place->to_avoid;
  }
  if (place->heap == nullptr) place->heap = own_heap();
  const SharedHeap::Served own =
      place->heap == nullptr ? SharedHeap::Served{kBusy} : place->heap->allocate(key, bytes);
  // Its own heap is busy if a signal handler has interrupted the thread inside.
  if (own.answer != kBusy || tries_shared) return own.block;
  return shared_->allocate(key, bytes).block;
}

// The heap of the neighbour serves, whichever thread it belongs to.
void* Context::allocate_near(const void* near, uint32_t bytes) {
  SharedHeap* const heap = page_memory.heap_of(near);
  if (heap != nullptr && heap->context == this) {
    const SharedHeap::Served served = heap->allocate_near(near, bytes);
    if (served.answer == SharedHeap::Answer::kServed) return served.block;
  }
  return allocate(nullptr, bytes);
}

void Context::count(HeapCounts& counts, uint64_t& resident) {
  for (SharedHeap* heap = heaps_.load(std::memory_order_acquire); heap != nullptr;
       heap = heap->next)
    heap->count(counts, resident);
}

void Context::end_thread(const ThreadPlace* places) {
  const RegistryLock lock;
  for (uint32_t at = 0; at < kMaxContexts; ++at) {
    const ThreadPlace& place = places[at];
    const Context* const context = registry[at];
    if (place.heap != nullptr && context != nullptr && context->number_ == place.context)
      place.heap->owner.store(SharedHeap::kNoOwner, std::memory_order_release);
  }
}

pthread_mutex_t Context::rules_mutex = PTHREAD_MUTEX_INITIALIZER;

void Context::before_fork() {
  pthread_mutex_lock(&rules_mutex);
  pthread_mutex_lock(&registry_mutex);
  for (Context* context : registry) {
    if (context == nullptr) continue;
    for (SharedHeap* heap = context->heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next)
      heap->entered_for_fork = heap->enter_for_fork();
  }
}

// Heaps of threads that are not in the child are there for new ones.
void Context::after_fork_in_child() {
  for (Context* context : registry) {
    if (context == nullptr) continue;
    for (SharedHeap* heap = context->heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next) {
      const uintptr_t owner = heap->owner.load(std::memory_order_relaxed);
      const bool is_kept = owner == SharedHeap::kAllThreads || owner == pthread_self();
      if (heap->entered_for_fork && !is_kept) heap->owner.store(SharedHeap::kNoOwner);
    }
  }
  after_fork();
}

void Context::after_fork() {
  for (Context* context : registry) {
    if (context == nullptr) continue;
    for (SharedHeap* heap = context->heaps_.load(std::memory_order_acquire); heap != nullptr;
         heap = heap->next)
      if (heap->entered_for_fork) heap->leave();
  }
  pthread_mutex_unlock(&registry_mutex);
  pthread_mutex_unlock(&rules_mutex);
}

}  // namespace halo::tidy
