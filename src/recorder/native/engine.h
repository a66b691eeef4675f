// The native engine in the recorded process: its connection, and the state of each thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/channel/streams.h"
#include "recorder/native/sampler.h"
#include "recorder/native/stream_writer.h"
#include "recorder/native/walk/code_rows.h"
#include "recorder/native/walk/sent_stacks.h"
#include "recorder/native/walk/stack_walk.h"

namespace halo::native {

// The environment variable that names the consumer's socket.
inline constexpr char kSocketVariable[] = "HALO_NATIVE_SOCKET";
// The size of the largest tracked object in bytes.
inline constexpr char kMaxObjectVariable[] = "HALO_NATIVE_MAX_OBJECT";
// If it is set, this process and those that it executes can be recorded later (Engine::request).
inline constexpr char kRecordableVariable[] = "HALO_RECORDABLE";

// The state of a thread. Constant-initialised; `writer` is good once the thread has a stream.
struct Thread {
  uint32_t session = 0;  // in which it has its stream
  StreamWriter writer;
  StackWalk stack;
  SentStacks sent;
  bool busy = false;
  uint32_t refused = 0;  // the session in which there was no stream for it
  bool is_new = false;   // it has had no burst yet
};

// The thread is inside the engine: what a signal handler allocates meanwhile is not recorded.
class Busy {
 public:
  explicit Busy(Thread& thread) : thread_(thread) { thread.busy = true; }
  ~Busy() { thread_.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Thread& thread_;
};

class Engine {
 public:
  // Connects, if the environment asks for a recording. Called before any other member.
  void begin();
  // Connects to the consumer at the abstract socket "halo-" with the process' number in ten digits,
  // unless the process is recorded already. `max_object`: bytes. For signal handlers.
  void request(uint64_t max_object);
  // Whether this process is recorded. A child that fork() did not make has a state of its own at
  // once: it shares the memory of the streams, but is not recorded.
  bool is_on() const { return guard() == kOn; }

  // Whether its consumer is gone: it is not recorded any more.
  static bool lost();
  // Whether the program may have restricted its own system calls.
  bool is_restricted() const { return guard() == kStopped; }

  // The calling thread, with a stream; null if there is none for it, or it is busy.
  Thread* enter();

  // Accesses count from now on if they are in the same MiB as this object.
  void mark_heap(uint64_t address, uint64_t size);
  bool is_heap(uint64_t address) const {
    return (heap_[address >> kRegionShift & (kRegions - 1)] & 1) != 0;
  }

  CodeRows& rows() { return rows_; }
  // The modules that are loaded now become part of the profile.
  void read_code() { notify(channel::StreamKind::kNeedsCode, true); }
  // Modules may be gone, and others take their place.
  void code_unmapped();
  // The program makes memory executable that is not of a file.
  void code_generated() { notify(channel::StreamKind::kMakesCode, false); }
  // This process is never recorded any more.
  void stop();
  // Called around a fork, in the forking thread.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  static constexpr uint32_t kOff = 0, kOn = 1, kStopped = 2;
  static constexpr int kRegionShift = 20;
  static constexpr uint64_t kRegions = uint64_t{1} << (47 - kRegionShift);

  uint32_t guard() const {
    return guard_ == nullptr ? kOff : std::atomic_ref(*guard_).load(std::memory_order_acquire);
  }
  bool begin_session(const char* path);
  void end_session();
  bool connect(const char* path);
  // A descriptor of streams; negative on failure.
  static int make_streams();
  bool map_streams(int descriptor);
  bool take_stream(Thread& thread);
  // Sends a record of that kind; `waits`: until it is consumed.
  static void notify(channel::StreamKind kind, bool waits);

  uint32_t* guard_ = nullptr;         // in a page that a child sees as zeroes (MADV_WIPEONFORK)
  std::atomic<uint32_t> session_{0};  // the number of recordings so far
  bool is_recordable_ = false;
  uint8_t* heap_ = nullptr;  // by MiB: 1 if it has ever contained a tracked object
  uint64_t max_object_ = 0;  // bytes
  void* memory_ = nullptr;   // of the streams; a forked child maps its own at the same address
  int connection_ = -1;
  int child_memory_ = -1, child_connection_ = -1, consumer_end_ = -1;
  struct Stacks {
    uint32_t sent[SentStacks::kPlaces];
    Frame frames[StackWalk::kMaxFrames];
  };

  // Of the threads that use a stream, one after the other.
  std::atomic<Stacks*> stacks_[channel::kStreams] = {};
  std::atomic<uint32_t> threads_{0};  // that have had a stream
  Sampler::Kept kept_[channel::kStreams] = {};
  CodeRows rows_;
};

extern constinit Engine engine;

}  // namespace halo::native
