// The consumer's end of the streams of a process (channel/streams.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "recorder/channel/streams.h"
#include "recorder/consumer/channel_reader.h"
#include "recorder/events/epoch_merge.h"

namespace halo::consumer {

// A stream as a queue of events/epoch_merge.h.
class StreamQueue {
 public:
  StreamQueue(channel::Stream& stream, const events::Record* records)
      : stream_(stream),
        records_(records),
        released_(stream.tail.load(std::memory_order_relaxed)) {}

  uint64_t published() const { return stream_.head.load(std::memory_order_acquire); }
  uint64_t written() const { return stream_.written.load(std::memory_order_acquire); }
  uint64_t held() const { return stream_.held.load(std::memory_order_acquire); }
  const events::Record& at(uint64_t position) const {
    return records_[position % channel::kStreamRecords];
  }
  // The contiguous part of [from, to) that starts at `from`.
  std::span<const events::Record> contiguous(uint64_t from, uint64_t to) const;
  // Makes room for the thread, from time to time: a segment of a merge may have one record.
  void release(uint64_t up_to) {
    if (up_to - released_ >= kPortion) make_room(up_to);
  }
  // The same, at once.
  void make_room(uint64_t up_to);

 private:
  static constexpr uint64_t kPortion = channel::kStreamRecords / 8;

  channel::Stream& stream_;
  const events::Record* records_;
  uint64_t released_;
};

// Whether that memory has streams, and no channel (channel/channel.h).
bool is_streams(int memory);

class StreamReader {
 public:
  // The records of one thread, in order; threads have the numbers of their streams.
  using Handler = std::function<void(base::ThreadId, std::span<const events::Record>)>;

  // Takes ownership of both descriptors.
  explicit StreamReader(const Descriptors& ends);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  bool good() const { return base_ != nullptr; }
  pid_t process() const { return header().process.load(std::memory_order_relaxed); }
  int connection() const { return ends_.connection; }
  bool connected() const;

  // Passes what the threads have published, in an order in which an access follows its object's
  // allocation and precedes its free. Returns the number of records that were passed.
  uint64_t read(const Handler& handler) { return read(handler, false); }
  // The same after the process has ended, with what it held back.
  uint64_t read_rest(const Handler& handler) { return read(handler, true); }
  // Frees the streams of threads that have ended, if all of their records are consumed.
  void recycle(const std::function<void(base::ThreadId)>& ended);
  // Waits a moment, or until a thread waits for room.
  void wait();

 private:
  using Source = events::MergeSourceOf<StreamQueue>;
  struct Thread {
    StreamQueue queue;
    Source source;
  };

  channel::StreamsHeader& header() const { return channel::streams_header(base_); }
  void find_streams();
  uint64_t read(const Handler& handler, bool has_ended);

  Descriptors ends_;
  void* base_ = nullptr;
  std::vector<Source*> sources_;  // of the present round
  std::vector<Thread> threads_;   // by stream; reserved, so that sources may point to queues
};

}  // namespace halo::consumer
