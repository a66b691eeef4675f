// Creates threads that the trace does not include.
#include "tracing/library/own_thread.h"

#include <pthread.h>

#include "tracing/library/reentrancy_guard.h"

namespace halo::logging {

namespace {
constexpr size_t kStackBytes = 512 * 1024;
}

bool start_own_thread(void* (*body)(void*), void* argument) {
  const ReentrancyGuard own;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  own_threads.fetch_add(1);
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) own_threads.fetch_sub(1);
  return started;
}

}  // namespace halo::logging
