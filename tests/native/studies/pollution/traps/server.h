// A thread that serves traps and runs what tests give it. It allocates nothing while it serves: a
// thread in fork() holds the locks of malloc until its event is read.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "studies/pollution/traps/traps.h"

namespace halo::traps {

class Server : public Listener {
 public:
  explicit Server(uint32_t capacity = 64) : traps_(capacity), thread_([this] { run(); }) {
    accesses.reserve(kMaxReports);
    losses.reserve(kMaxReports);
    run_in_server([this](Traps&) { refusal = traps_.open(); });
  }
  ~Server() {
    run_in_server([this](Traps&) {
      traps_.close();
      ends_ = true;
    });
    thread_.join();
  }

  Refusal refusal = Refusal::kNone;
  std::vector<uintptr_t> accesses;
  std::vector<uintptr_t> losses;
  std::atomic<uint64_t> rings = 0;

  bool arm(const void* page) {
    bool armed = false;
    run_in_server([&](Traps&) { armed = traps_.arm(reinterpret_cast<uintptr_t>(page)); });
    return armed;
  }
  void disarm(const void* page) {
    run_in_server([&](Traps&) { traps_.disarm(reinterpret_cast<uintptr_t>(page)); });
  }
  void settle() {
    run_in_server([](Traps&) {});
  }
  const volatile char* bell() const { return traps_.bell(); }

  void accessed(uintptr_t page) override {
    if (accesses.size() < kMaxReports) accesses.push_back(page);
  }
  void lost(uintptr_t page) override {
    if (losses.size() < kMaxReports) losses.push_back(page);
  }
  void rung() override { ++rings; }

  void run_in_server(const std::function<void(Traps&)>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    is_due_ = true;
    done_.wait(lock, [this] { return !is_due_; });
    task_ = nullptr;  // it ends with this call
  }

 private:
  static constexpr size_t kMaxReports = 1 << 16;

  void run() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (is_due_) {
          (*task_)(traps_);
          is_due_ = false;
          done_.notify_all();
        }
        if (ends_) return;
      }
      if (refusal == Refusal::kNone && traps_.bell() != nullptr) traps_.wait(200'000, *this);
    }
  }

  Traps traps_;
  std::mutex mutex_;
  std::condition_variable done_;
  const std::function<void(Traps&)>* task_ = nullptr;
  bool is_due_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace halo::traps
