// Places of threads by context, and what happens to them when a thread ends.
#include "tidy/threads.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

#include "base/keep_errno.h"
#include "base/old_c_library.h"

namespace halo::tidy {
namespace {

struct ThreadPlaces {
  ThreadPlace places[Context::kMaxContexts];
};

// The thread's places; nullptr: none yet; ended(): it has none any more.
__thread ThreadPlaces* mine = nullptr;

ThreadPlaces* ended() {
  static char mark;
  return reinterpret_cast<ThreadPlaces*>(&mark);
}

pthread_key_t key;
std::atomic<bool> has_key{false};

// Other threads may adopt the heaps. A destructor of the program that runs later has no places.
void end_thread(void* places) {
  Context::end_thread(static_cast<ThreadPlaces*>(places)->places);
  mine = ended();
  munmap(places, sizeof(ThreadPlaces));
}

ThreadPlaces* make_places() {
  if (!has_key.load(std::memory_order_acquire)) return nullptr;
  const KeepErrno keep;
  void* const memory = mmap(nullptr, sizeof(ThreadPlaces), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (pthread_setspecific(key, memory) != 0) {
    munmap(memory, sizeof(ThreadPlaces));
    return nullptr;
  }
  mine = static_cast<ThreadPlaces*>(memory);
  return mine;
}

// The library may be unloaded, with a plug-in that it is linked into.
__attribute__((destructor)) void drop_key() {
  if (has_key.exchange(false)) pthread_key_delete(key);
}

}  // namespace

void prepare_threads() {
  if (make_key(key, end_thread)) has_key.store(true, std::memory_order_release);
}

ThreadPlace* place_in(uint64_t context) {
  ThreadPlaces* places = mine;
  if (places == nullptr) places = make_places();
  if (places == nullptr || places == ended()) return nullptr;
  ThreadPlace& place = places->places[context % Context::kMaxContexts];
  if (place.context != context) {
    place.heap = nullptr;  // first: a signal handler may use the place in between
    place.to_avoid = place.avoided = 0;
    place.context = context;
  }
  return &place;
}

}  // namespace halo::tidy
