// A bounded first-in first-out queue between threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace server {

template <typename T>
class Queue {
 public:
  // Waits while the queue is full.
  void push(T item) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return items_.size() < kCapacity; });
    items_.push_back(std::move(item));
    if (items_.size() == 1) {
      has_items_.notify_one();
    }
  }

  // Waits for items and takes all there are, in order; none means that the queue is closed.
  std::vector<T> take_all() {
    std::unique_lock lock(mutex_);
    has_items_.wait(lock, [this] { return !items_.empty() || closed_; });
    std::vector<T> taken;
    taken.swap(items_);
    has_room_.notify_all();
    return taken;
  }

  // Nothing may be pushed any more.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    has_items_.notify_all();
  }

 private:
  static constexpr size_t kCapacity = 1024;

  std::mutex mutex_;
  std::condition_variable has_room_;
  std::condition_variable has_items_;
  std::vector<T> items_;
  bool closed_ = false;
};

}  // namespace server
