// Work on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace halo::layout {

// Calls work(0) to work(count - 1), `jobs` of them at the same time. Throws what one of them threw.
template <class Work>
void run_jobs(size_t count, unsigned jobs, const Work& work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (size_t at = next++; at < count; at = next++) work(at);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned job = 1; job < jobs; ++job) threads.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace halo::layout
