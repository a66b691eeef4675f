// Chunks, waits and connections.
#include "recorder/valgrind/sender.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/system_call.h"
#include "recorder/channel/connection.h"
#include "recorder/valgrind/api.h"
#include "recorder/valgrind/memory.h"

namespace halo::valgrind {

namespace {

using channel::Header;

// The interval at which a wait checks whether the consumer is still connected.
constexpr timespec kCheckInterval{0, 50'000'000};

void wake(std::atomic<uint32_t>& counter) {
  system_call(SYS_futex, address_of(&counter), FUTEX_WAKE, 1);
}

}  // namespace

bool Sender::make_channel(Ends& ends) {
  if (ends.memory == nullptr) ends.memory = reserve<char>(channel::kChannelBytes);
  if (ends.memory == nullptr) return false;
  const int made = channel::make_memory(channel::kChannelBytes);
  if (made < 0) return false;
  ends.descriptor = VG_(safe_fd)(made);
  if (ends.descriptor < 0) return false;
  const int64_t mapped =
      system_call(SYS_mmap, address_of(static_cast<char*>(ends.memory)), channel::kChannelBytes,
                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, uint64_t(ends.descriptor), 0);
  if (mapped < 0) {
    channel::close(ends.descriptor);
    return false;
  }
  Header& header = channel::header(ends.memory);
  header.pid = VG_(getpid)();
  header.magic = channel::kMagic;
  return true;
}

void Sender::start(const Ends& ends) {
  memory_ = ends.memory;
  connection_ = ends.connection;
  channel::close(ends.descriptor);
  free_count_ = unused_ = reclaimed_ = 0;
  fill_another();
}

bool Sender::connect(const char* socket_path) {
  Ends ends;
  const int made = channel::connect_to(socket_path);
  if (made < 0) return false;
  ends.connection = VG_(safe_fd)(made);
  if (ends.connection < 0 || !make_channel(ends)) return false;
  if (!channel::send_descriptors(ends.connection, ends.descriptor, -1)) return false;
  start(ends);
  return true;
}

// Returns a free chunk; after a lost connection, its contents are dropped.
void Sender::fill_another() {
  cursor_ = channel::chunk(memory_, chunk_);
  full_ = cursor_ + channel::kFullWords;
  if (lost_) return;
  const Header& header = channel::header(memory_);
  const uint32_t consumed = header.consumed.load(std::memory_order_acquire);
  for (; reclaimed_ != consumed; ++reclaimed_)
    free_[free_count_++] = header.entries[reclaimed_ % channel::kChunks].chunk;
  chunk_ = free_count_ != 0 ? free_[--free_count_] : unused_++;
  cursor_ = channel::chunk(memory_, chunk_);
  full_ = cursor_ + channel::kFullWords;
}

void Sender::publish() {
  Header& header = channel::header(memory_);
  const uint32_t number = header.published.load(std::memory_order_relaxed);
  header.instructions.store(instructions_, std::memory_order_relaxed);
  header.entries[number % channel::kChunks] = {chunk_,
                                               uint32_t(cursor_ - channel::chunk(memory_, chunk_))};
  // Sequentially consistent: this thread stores the counter and loads the flag, the consumer stores
  // the flag and loads the counter. So at least one of them sees the other's store.
  header.published.store(number + 1);
  if (header.consumer_waits.load() != 0) wake(header.published);
}

void Sender::next_chunk() {
  ++chunks_;
  if (!lost_) {
    publish();
    wait_until_consumed(channel::kChunks - 1);
  }
  fill_another();
}

void Sender::drain() {
  if (lost_) return;
  publish();
  wait_until_consumed(0);
  fill_another();
}

// Waits until at most `behind` chunks are published and not consumed.
void Sender::wait_until_consumed(uint32_t behind) {
  Header& header = channel::header(memory_);
  const uint32_t published = header.published.load(std::memory_order_relaxed);
  for (;;) {
    uint32_t consumed = header.consumed.load(std::memory_order_acquire);
    if (published - consumed <= behind) return;
    header.producer_waits.store(1);
    consumed = header.consumed.load();
    if (published - consumed > behind) {
      system_call(SYS_futex, address_of(&header.consumed), FUTEX_WAIT, consumed,
                  address_of(&kCheckInterval));
      if (header.consumed.load() == consumed && channel::hung_up(connection_)) return lose();
    }
    header.producer_waits.store(0);
  }
}

void Sender::lose() {
  lost_ = true;
  channel::close(connection_);
}

void Sender::before_fork() {
  if (lost_) return;
  int pair[2];
  if (!make_channel(child_)) return;
  if (system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, address_of(pair)) != 0)
    return channel::close(child_.descriptor);
  child_.connection = VG_(safe_fd)(pair[0]);
  consumer_end_ = pair[1];
  // Without both, the consumer would wait for them, and this process for the consumer.
  if (child_.connection < 0 ||
      !channel::send_descriptors(connection_, child_.descriptor, consumer_end_))
    return after_fork_in_parent();
  make_room();
  put(channel::Word::make(channel::WordKind::kFork, 0));
  drain();
}

void Sender::after_fork_in_parent() {
  if (consumer_end_ < 0) return;
  channel::close(child_.descriptor);
  if (child_.connection >= 0) channel::close(child_.connection);
  channel::close(consumer_end_);
  child_.connection = consumer_end_ = -1;
}

void Sender::after_fork_in_child() {
  if (child_.connection < 0) {
    if (lost_) return;
    lose();
    // The words that this process drops must not be those of its parent.
    system_call(SYS_mmap, address_of(static_cast<char*>(memory_)), channel::kChannelBytes,
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                uint64_t(-1), 0);
    return;
  }
  channel::close(connection_);
  channel::close(consumer_end_);
  channel::header(child_.memory).pid = VG_(getpid)();
  start(child_);
  instructions_ = 0;
  child_ = Ends{};
  consumer_end_ = -1;
}

}  // namespace halo::valgrind
