// Threads: patterns stay intact with remote frees, forks and signals meanwhile, and no thread
// waits.
#include <gtest/gtest.h>
#include <halo/tidy.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kThreads = 8;

struct Object {
  uint64_t value, complement;
};

// Objects that threads pass to one another.
class Exchange {
 public:
  // Puts an object in a random place; returns the one that was there.
  Object* swap(size_t at, Object* object) {
    return places_[at % places_.size()].exchange(object, std::memory_order_acq_rel);
  }
  template <class Visit>
  void for_each(const Visit& visit) {
    for (auto& place : places_) visit(place.exchange(nullptr));
  }

 private:
  std::array<std::atomic<Object*>, 4096> places_{};
};

void work(tidy_ctx_t* ctx, Exchange& exchange, unsigned seed, int operations) {
  std::mt19937 random(seed);
  for (int i = 0; i < operations; ++i) {
    const auto hint = static_cast<unsigned>(random() % 10'000);
    auto* const object = static_cast<Object*>(tidy_alloc(ctx, 16 + random() % 100, &hint));
    ASSERT_NE(object, nullptr);
    object->value = random();
    object->complement = ~object->value;
    Object* const other = exchange.swap(random(), object);
    if (other == nullptr) continue;
    ASSERT_EQ(other->value, ~other->complement);
    tidy_free(other);
  }
}

void free_rest(Exchange& exchange) {
  exchange.for_each([](Object* object) {
    if (object == nullptr) return;
    EXPECT_EQ(object->value, ~object->complement);
    tidy_free(object);
  });
}

void run_threads(tidy_ctx_t* ctx, Exchange& exchange, int operations) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { work(ctx, exchange, i, operations); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, ShareAContext) {
  for (const unsigned flags : {0u, unsigned{TIDY_THREAD_LOCAL}}) {
    tidy_settings_t settings{};
    settings.flags = flags;
    tidy_ctx_t* const ctx = tidy_create(&settings);
    Exchange exchange;
    run_threads(ctx, exchange, 20'000);
    run_threads(ctx, exchange, 20'000);  // they adopt the heaps of the first ones
    free_rest(exchange);
    tidy_stats_t stats;
    tidy_stats(ctx, &stats);
    EXPECT_EQ(stats.live_bytes, 0u);
    // Of each heap, those of the page that became empty last.
    EXPECT_LE(stats.buckets, 64 * (2 * kThreads + 1));
    tidy_destroy(ctx);
  }
}

TEST(Threads, IgnoreLinksThatAWriteAfterFreeChanged) {
  tidy_settings_t settings{};
  settings.flags = TIDY_THREAD_LOCAL;
  tidy_ctx_t* const ctx = tidy_create(&settings);
  const unsigned hint = 1;
  const auto allocate = [&] { return static_cast<uintptr_t*>(tidy_alloc(ctx, 32, &hint)); };
  uintptr_t* const used = allocate();
  const auto at = reinterpret_cast<uintptr_t>(used);
  for (const uintptr_t wild : {uintptr_t{1}, UINTPTR_MAX, at + 1, at + 8, at + (uintptr_t{1} << 36),
                               reinterpret_cast<uintptr_t>(&hint)}) {
    uintptr_t* const freed = allocate();
    ASSERT_NE(freed, nullptr);
    std::thread([&] { tidy_free(freed); }).join();  // not inside the heap of another thread
    *static_cast<volatile uintptr_t*>(freed) = wild;
    uintptr_t* const next = allocate();
    ASSERT_NE(next, nullptr);
    ASSERT_NE(next, used);
    tidy_free(next);
  }
  EXPECT_TRUE(tidy_owns(used));
  tidy_free(used);
  tidy_destroy(ctx);
}

TEST(Threads, AllocateInAForkedChild) {
  tidy_ctx_t* const ctx = tidy_create(nullptr);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (unsigned i = 0; !stop; ++i) tidy_free(tidy_alloc(ctx, 32, &i));
  });
  for (int round = 0; round < 50; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (unsigned i = 0; i < 1000; ++i) {
        void* const p = tidy_alloc(ctx, 32, &i);
        if (p == nullptr || !tidy_owns(p)) _exit(1);
        tidy_free(p);
      }
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << round;
  }
  stop = true;
  busy.join();
  tidy_destroy(ctx);
}

tidy_ctx_t* of_handler = nullptr;
std::atomic<unsigned> handled{0};

void handle(int) {
  const unsigned hint = ++handled;
  void* const p = tidy_near(of_handler, 48, nullptr);
  tidy_free(p);
  tidy_free(tidy_alloc(of_handler, 24, &hint));
}

TEST(Threads, OfAChildTakeTheHeapsOfThoseThatItDoesNotHave) {
  tidy_settings_t settings{};
  settings.flags = TIDY_THREAD_LOCAL;
  tidy_ctx_t* const ctx = tidy_create(&settings);
  const unsigned hint = 7;
  std::atomic<char*> before{nullptr};
  std::atomic<bool> stop{false};
  std::thread in_parent([&] {
    before = static_cast<char*>(tidy_alloc(ctx, 32, &hint));
    while (!stop) std::this_thread::yield();
  });
  while (before == nullptr) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    auto* const made = static_cast<char*>(tidy_alloc(ctx, 32, &hint));  // this thread's first one
    _exit(std::abs(made - before) < 4096 ? 0 : 1);                      // in the same cell
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  stop = true;
  in_parent.join();
  tidy_free(before);
  tidy_destroy(ctx);
}

TEST(Signals, FindTheHeapBusyAtMost) {
  of_handler = tidy_create(nullptr);
  struct sigaction action{};
  action.sa_handler = handle;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  // malloc is not for signal handlers: the heap has to serve, so the thread's own heap is there.
  const pthread_t self = pthread_self();
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    while (!stop) {
      pthread_kill(self, SIGUSR1);
      usleep(20);
    }
  });
  std::vector<void*> objects;
  objects.reserve(1000);
  for (int round = 0; round < 200; ++round) {
    for (unsigned i = 0; i < 1000; ++i) objects.push_back(tidy_alloc(of_handler, 32, &i));
    for (void* p : objects) tidy_free(p);
    objects.clear();
  }
  stop = true;
  sender.join();
  EXPECT_GT(handled, 0u);
  signal(SIGUSR1, SIG_DFL);
  tidy_destroy(of_handler);
}

}  // namespace
