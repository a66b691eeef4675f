// Rounds of records from all streams.
#include "recorder/consumer/stream_reader.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace halo::consumer {

namespace {

using channel::Stream;

// A thread that writes much ends it. Longer ones take less time from the program: each is a task
// switch, and the records of many are looked up faster.
constexpr timespec kPause{0, 5'000'000};

bool is_alive(pid_t process, int32_t thread) {
  const std::string path = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
  return access(path.c_str(), F_OK) == 0;
}

}  // namespace

std::span<const events::Record> StreamQueue::contiguous(uint64_t from, uint64_t to) const {
  const uint64_t at = from % channel::kStreamRecords;
  return {records_ + at, std::min(to - from, channel::kStreamRecords - at)};
}

void StreamQueue::make_room(uint64_t up_to) {
  if (up_to == released_) return;
  released_ = up_to;
  stream_.tail.store(up_to);
  if (stream_.producer_waits.load() != 0)
    syscall(SYS_futex, &stream_.tail, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool is_streams(int memory) {
  uint64_t magic = 0;
  return pread(memory, &magic, sizeof magic, 0) == sizeof magic && magic == channel::kStreamsMagic;
}

StreamReader::StreamReader(const Descriptors& ends) : ends_(ends) {
  threads_.reserve(channel::kStreams);
  if (!is_streams(ends_.memory)) return;
  void* mapped =
      mmap(nullptr, channel::kStreamsBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ends_.memory, 0);
  if (mapped != MAP_FAILED) base_ = mapped;
}

StreamReader::~StreamReader() {
  if (base_ != nullptr) munmap(base_, channel::kStreamsBytes);
  if (ends_.memory >= 0) close(ends_.memory);
  if (ends_.connection >= 0) close(ends_.connection);
}

bool StreamReader::connected() const {
  pollfd one{ends_.connection, POLLRDHUP, 0};
  return poll(&one, 1, 0) == 0 || (one.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0;
}

void StreamReader::find_streams() {
  const uint32_t used = header().used.load(std::memory_order_acquire);
  while (threads_.size() < used) {
    const auto number = uint32_t(threads_.size());
    Thread& thread = threads_.emplace_back(
        StreamQueue(header().streams[number], channel::stream_records(base_, number)), Source{});
    thread.source.thread = base::ThreadId{number};
    thread.source.ring = &thread.queue;
  }
}

uint64_t StreamReader::read(const Handler& handler, bool has_ended) {
  // The limit is taken first, then the list of streams and their ends: see epoch_merge.h.
  uint64_t limit = channel::take_epoch();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  find_streams();
  for (const Thread& thread : threads_) {
    const uint64_t held = has_ended ? 0 : thread.queue.held();
    if (held != 0) limit = std::min(limit, held);
  }
  sources_.clear();
  uint64_t consumed = 0;  // is what the cursors advance by
  for (Thread& thread : threads_) {
    Source& source = thread.source;
    source.end = has_ended ? thread.queue.written() : thread.queue.published();
    consumed -= source.cursor;
    if (source.end != source.cursor) sources_.push_back(&source);
  }
  const bool is_single = threads_.size() == 1 && header().used.load(std::memory_order_acquire) == 1;
  if (is_single) {
    events::drain_single(threads_[0].source, handler);
  } else {
    events::merge_round(std::span(sources_), limit, handler);
  }
  for (Thread& thread : threads_) {
    thread.queue.make_room(thread.source.cursor);
    consumed += thread.source.cursor;
  }
  return consumed;
}

void StreamReader::recycle(const std::function<void(base::ThreadId)>& ended) {
  for (Thread& thread : threads_) {
    Stream& stream = header().streams[base::index(thread.source.thread)];
    const int32_t number = stream.thread.load(std::memory_order_acquire);
    if (number == 0 || is_alive(process(), number)) continue;
    if (thread.queue.published() != thread.source.cursor) continue;
    ended(thread.source.thread);
    stream.thread.store(0, std::memory_order_release);
  }
}

void StreamReader::wait() {
  std::atomic<uint32_t>& sleeps = header().consumer_sleeps;
  sleeps.store(1);
  syscall(SYS_futex, &sleeps, FUTEX_WAIT, 1, &kPause, nullptr, 0);
  sleeps.store(0);
}

}  // namespace halo::consumer
