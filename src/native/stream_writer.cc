// Waits for the consumer.
#include "native/stream_writer.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/system_call.h"

namespace halo::native {

namespace {

// The interval at which a wait checks whether the consumer is still connected.
constexpr timespec kCheckInterval{0, 20'000'000};

}  // namespace

void StreamWriter::wait_until(uint64_t tail) {
  for (;;) {
    tail_ = stream_->tail.load(std::memory_order_acquire);
    if (tail_ >= tail) return;
    if (lost_()) {  // no process reads the records
      tail_ = head_;
      return;
    }
    if (header_->consumer_sleeps.exchange(0) != 0)
      system_call(SYS_futex, address_of(&header_->consumer_sleeps), FUTEX_WAKE, 1);
    // Sequentially consistent: this thread stores the flag and loads the position, the consumer
    // stores the position and loads the flag. So at least one of them sees the other's store.
    stream_->producer_waits.store(1);
    const uint64_t seen = stream_->tail.load();
    if (seen < tail)
      system_call(SYS_futex, address_of(&stream_->tail), FUTEX_WAIT, uint32_t(seen),
                  address_of(&kCheckInterval));
    stream_->producer_waits.store(0);
  }
}

}  // namespace halo::native
