// A bounded queue of batches between threads, which allocates nothing.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace stress {

// A chain of blocks: the first word of each points to the next one.
struct Link {
  Link* next;
};

class Channel {
 public:
  // Waits while the channel is full.
  void send(Link* batch) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return sent_ - received_ < kCapacity; });
    batches_[sent_++ % kCapacity] = batch;
    has_batch_.notify_one();
  }

  // Waits for a batch; nullptr means that the channel is closed.
  Link* receive() {
    std::unique_lock lock(mutex_);
    has_batch_.wait(lock, [this] { return received_ < sent_ || closed_; });
    if (received_ == sent_) {
      return nullptr;
    }
    Link* batch = batches_[received_++ % kCapacity];
    has_room_.notify_one();
    return batch;
  }

  // Nothing may be sent any more.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    has_batch_.notify_all();
  }

 private:
  static constexpr size_t kCapacity = 64;

  std::mutex mutex_;
  std::condition_variable has_room_;
  std::condition_variable has_batch_;
  std::array<Link*, kCapacity> batches_ = {};
  size_t sent_ = 0;
  size_t received_ = 0;
  bool closed_ = false;
};

}  // namespace stress
