// Connects, maps the streams, and follows forks.
#include "recorder/native/engine.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <iterator>

#include "base/system_call.h"
#include "recorder/channel/connection.h"
#include "recorder/native/burst/bursts.h"
#include "recorder/native/sampler.h"

namespace halo::native {

constinit Engine engine;

namespace {

// Initial-exec, as other models may allocate at the first use.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread current;

void* map(uint64_t bytes, int flags, int descriptor = -1, void* at = nullptr) {
  const int64_t made =
      system_call(SYS_mmap, reinterpret_cast<uint64_t>(at), bytes, PROT_READ | PROT_WRITE,
                  uint64_t(flags), uint64_t(descriptor), 0);
  return made < 0 ? nullptr : reinterpret_cast<void*>(made);
}

constexpr uint64_t kDefaultMaxObject = 4096;

int32_t own_thread() { return int32_t(system_call(SYS_gettid)); }

}  // namespace

void Engine::begin() {
  const char* path = getenv(kSocketVariable);
  is_recordable_ = getenv(kRecordableVariable) != nullptr;
  if (path == nullptr && !is_recordable_) return;
  unsetenv(kSocketVariable);  // the string stays; programs that this one executes are not recorded
  void* page = map(sizeof(uint32_t), MAP_PRIVATE | MAP_ANONYMOUS);
  if (page == nullptr) return;
  if (system_call(SYS_madvise, address_of(static_cast<char*>(page)), sizeof(uint32_t),
                  MADV_WIPEONFORK) != 0)
    return;
  heap_ = static_cast<uint8_t*>(map(kRegions, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
  if (heap_ == nullptr) return;
  const char* largest = getenv(kMaxObjectVariable);
  max_object_ = largest == nullptr ? kDefaultMaxObject : strtoull(largest, nullptr, 10);
  guard_ = static_cast<uint32_t*>(page);
  if (path != nullptr && !begin_session(path) && !is_recordable_) return;
  bursts.run_natively(&Engine::notify);
  sampler.begin();
}

// Nothing is in use by threads of an earlier recording that still run: their timers have ended, or
// they begin a stream before they use any.
bool Engine::begin_session(const char* path) {
  if (!connect(path)) return false;
  for (Sampler::Kept& kept : kept_) kept = {};
  rows_.forget();
  session_.fetch_add(1, std::memory_order_relaxed);
  std::atomic_ref(*guard_).store(kOn, std::memory_order_release);
  return true;
}

// Threads that are just writing go on in memory that no process reads.
void Engine::end_session() {
  uint32_t expected = kOn;
  if (!std::atomic_ref(*guard_).compare_exchange_strong(expected, kOff)) return;
  map(channel::kStreamsBytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, memory_);
  channel::close(connection_);
}

void Engine::request(uint64_t max_object) {
  if (!is_recordable_ || is_on() || is_restricted()) return;
  char name[] = "@halo-0000000000";
  char* digit = std::end(name) - 1;
  for (auto rest = uint32_t(system_call(SYS_getpid)); rest != 0; rest /= 10)
    *--digit += char(rest % 10);
  max_object_ = max_object;
  Sampler::begin_gently();
  begin_session(name);
}

void Engine::mark_heap(uint64_t address, uint64_t size) {
  if (size > max_object_) return;
  const uint64_t last = (address + size) >> kRegionShift;
  for (uint64_t at = address >> kRegionShift; at <= last && at < kRegions; ++at)
    if (heap_[at] == 0) heap_[at] = 1;
}

bool Engine::connect(const char* path) {
  connection_ = channel::connect_to(path);
  if (connection_ < 0) return false;
  const uint32_t user = channel::user_of_peer(connection_);
  const bool is_trusted = user == 0 || user == uint32_t(system_call(SYS_geteuid));
  const int memory = is_trusted ? make_streams() : -1;
  const bool good =
      memory >= 0 && map_streams(memory) && channel::send_descriptors(connection_, memory);
  if (memory >= 0) channel::close(memory);
  if (!good) channel::close(connection_);
  return good;
}

int Engine::make_streams() {
  const int made = channel::make_memory(channel::kStreamsBytes);
  if (made < 0) return -1;
  if (void* header = map(channel::kStreamsHeaderBytes, MAP_SHARED, made)) {
    channel::initialise_streams(header);
    system_call(SYS_munmap, reinterpret_cast<uint64_t>(header), channel::kStreamsHeaderBytes);
    return made;
  }
  channel::close(made);
  return -1;
}

bool Engine::map_streams(int descriptor) {
  const int fixed = memory_ != nullptr ? MAP_FIXED : 0;
  memory_ = map(channel::kStreamsBytes, MAP_SHARED | fixed, descriptor, memory_);
  if (memory_ == nullptr) return false;
  const int32_t own = int32_t(system_call(SYS_getpid));
  channel::streams_header(memory_).process.store(own, std::memory_order_relaxed);
  return true;
}

bool Engine::lost() {
  if (engine.is_on() && !channel::hung_up(engine.connection_)) return false;
  engine.end_session();
  return true;
}

Thread* Engine::enter() {
  if (!is_on()) return nullptr;
  Thread& thread = current;
  if (thread.busy) return nullptr;
  if (thread.session != session_.load(std::memory_order_relaxed) && !take_stream(thread))
    return nullptr;
  return &thread;
}

bool Engine::take_stream(Thread& thread) {
  const uint32_t session = session_.load(std::memory_order_acquire);
  if (thread.refused == session) return false;
  thread = {};
  const Busy busy(thread);
  channel::StreamsHeader& header = channel::streams_header(memory_);
  const int32_t own = own_thread();
  for (uint32_t at = 0; at < channel::kStreams; ++at) {
    channel::Stream& stream = header.streams[at];
    int32_t unused = 0;
    if (stream.thread.load(std::memory_order_relaxed) != 0) continue;
    if (!stream.thread.compare_exchange_strong(unused, own, std::memory_order_acq_rel)) continue;
    for (uint32_t used = header.used.load(); used <= at;)
      header.used.compare_exchange_weak(used, at + 1);
    Stacks* stacks = stacks_[at].load(std::memory_order_relaxed);
    if (stacks == nullptr) {
      stacks =
          static_cast<Stacks*>(map(sizeof *stacks, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
      stacks_[at].store(stacks, std::memory_order_relaxed);
    }
    if (stacks == nullptr) break;
    thread.stack.begin(stacks->frames, threads_.fetch_add(1, std::memory_order_relaxed));
    thread.sent.begin(stacks->sent);
    thread.writer.begin(header, stream, channel::stream_records(memory_, at), lost,
                        Sampler::weight);
    thread.is_new = sampler.begin_thread(kept_[at]);
    thread.session = session;
    return true;
  }
  thread.refused = session;
  return false;
}

[[gnu::noinline]] void Engine::notify(channel::StreamKind kind, bool waits) {
  Thread* thread = engine.enter();
  if (thread == nullptr) return;
  const Busy busy(*thread);
  if (Bursts::is_active()) Sampler::flush(*thread);
  thread->writer.reserve(2);
  thread->writer.mark_epoch();
  thread->writer.put(events::Record::of_stream(uint8_t(kind), 0, 0));
  thread->writer.publish();
  if (waits) thread->writer.drain();
}

void Engine::code_unmapped() {
  rows_.forget();
  bursts.forget();
  notify(channel::StreamKind::kCodeUnmapped, false);
}

void Engine::stop() {
  if (guard_ == nullptr) return;
  if (!is_on()) {
    *guard_ = kStopped;
    return;
  }
  read_code();
  Sampler::end_thread();
  *guard_ = kStopped;
}

void Engine::before_fork() {
  Thread* thread = enter();
  if (thread == nullptr) return;
  const Busy busy(*thread);
  if (Bursts::is_active()) Sampler::flush(*thread);
  int pair[2];
  child_memory_ = make_streams();
  if (child_memory_ < 0) return;
  if (system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, address_of(pair)) != 0) {
    channel::close(child_memory_);
    child_memory_ = -1;
    return;
  }
  child_connection_ = pair[0];
  consumer_end_ = pair[1];
  // Without both, the consumer would wait for them, and this thread for the consumer.
  if (!channel::send_descriptors(connection_, child_memory_, consumer_end_))
    return after_fork_in_parent();
  thread->writer.reserve(2);
  thread->writer.mark_epoch();
  thread->writer.put(events::Record::of_stream(uint8_t(channel::StreamKind::kFork), 0, 0));
  thread->writer.publish();
  thread->writer.drain();
}

void Engine::after_fork_in_parent() {
  if (child_connection_ < 0) return;
  channel::close(child_memory_);
  channel::close(child_connection_);
  channel::close(consumer_end_);
  child_memory_ = child_connection_ = consumer_end_ = -1;
}

void Engine::after_fork_in_child() {
  sampler.after_fork();
  if (child_connection_ < 0) return;  // not recorded: the guard is zero
  channel::close(connection_);
  channel::close(consumer_end_);
  connection_ = child_connection_;
  child_connection_ = consumer_end_ = -1;
  current = Thread{};
  for (Sampler::Kept& kept : kept_) kept = {};  // the parent's
  const bool good = map_streams(child_memory_);
  channel::close(child_memory_);
  child_memory_ = -1;
  if (good) *guard_ = kOn;
}

}  // namespace halo::native
