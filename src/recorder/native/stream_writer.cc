// Waits for the consumer.
#include "recorder/native/stream_writer.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>

#include "base/system_call.h"

namespace halo::native {

namespace {

// The interval at which a wait checks whether the consumer is still connected.
constexpr timespec kCheckInterval{0, 20'000'000};

}  // namespace

void StreamWriter::wake_consumer() {
  if (header_->consumer_sleeps.load(std::memory_order_relaxed) != 0 &&
      header_->consumer_sleeps.exchange(0) != 0)
    system_call(SYS_futex, address_of(&header_->consumer_sleeps), FUTEX_WAKE, 1);
}

void StreamWriter::make_room(uint64_t count) {
  wake_consumer();
  const uint64_t end = head_ + count;
  const uint64_t needed = end < channel::kStreamRecords ? 0 : end - channel::kStreamRecords;
  limit_ = std::min(wait_until(needed) + channel::kStreamRecords, end + kWakes);
}

uint64_t StreamWriter::wait_until(uint64_t tail) {
  for (;;) {
    const uint64_t seen = stream_->tail.load(std::memory_order_acquire);
    if (seen >= tail) return seen;
    if (lost_()) return head_;  // no process reads the records
    wake_consumer();
    // Sequentially consistent: this thread stores the flag and loads the position, the consumer
    // stores the position and loads the flag. So at least one of them sees the other's store.
    stream_->producer_waits.store(1);
    const uint64_t now = stream_->tail.load();
    if (now < tail)
      system_call(SYS_futex, address_of(&stream_->tail), FUTEX_WAIT, uint32_t(now),
                  address_of(&kCheckInterval));
    stream_->producer_waits.store(0);
  }
}

}  // namespace halo::native
