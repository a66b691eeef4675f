// Chunks, waits and connections.
#include "valgrind/sender.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "valgrind/api.h"
#include "valgrind/memory.h"
#include "valgrind/system.h"

namespace halo::valgrind {

namespace {

using channel::Header;

// The interval at which a wait checks whether the consumer is still connected.
constexpr timespec kCheckInterval{0, 50'000'000};

void wake(std::atomic<uint32_t>& counter) {
  system_call(SYS_futex, address_of(&counter), FUTEX_WAKE, 1);
}

bool hung_up(int connection) {
  pollfd one{connection, 0, 0};
  timespec no_wait{0, 0};
  return system_call(SYS_ppoll, address_of(&one), 1, address_of(&no_wait)) == 1;
}

void close(int descriptor) { system_call(SYS_close, uint64_t(descriptor)); }

// Sends one byte with up to two descriptors.
bool send_descriptors(int connection, int first, int second) {
  char byte = 'c';
  iovec content{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  auto* head = reinterpret_cast<cmsghdr*>(control);
  const uint64_t bytes = (second < 0 ? 1 : 2) * sizeof(int);
  head->cmsg_len = CMSG_LEN(bytes);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  auto* descriptors = reinterpret_cast<int*>(CMSG_DATA(head));
  descriptors[0] = first;
  if (second >= 0) descriptors[1] = second;
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(bytes);
  return system_call(SYS_sendmsg, uint64_t(connection), address_of(&message), MSG_NOSIGNAL) == 1;
}

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  uint64_t length = 0;
  while (path[length] != 0 && length + 1 < sizeof address.sun_path) {
    address.sun_path[length] = path[length];
    ++length;
  }
  const int64_t made = system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
  if (made < 0) return -1;
  if (system_call(SYS_connect, uint64_t(made), address_of(&address), sizeof address) != 0)
    return -1;
  return VG_(safe_fd)(int(made));
}

// The program may limit the size of files, and the kernel sends SIGXFSZ for larger ones. So the
// limit is raised meanwhile; returns false if that is forbidden.
bool set_channel_size(int descriptor) {
  rlimit limit{};
  if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, address_of(&limit)) != 0) return false;
  const bool is_low = limit.rlim_cur < channel::kChannelBytes;
  if (is_low) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (raised.rlim_cur < channel::kChannelBytes) return false;
    if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, address_of(&raised)) != 0) return false;
  }
  const int64_t result = system_call(SYS_ftruncate, uint64_t(descriptor), channel::kChannelBytes);
  if (is_low) system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, address_of(&limit));
  return result == 0;
}

}  // namespace

bool Sender::make_channel(Ends& ends) {
  if (ends.memory == nullptr) ends.memory = reserve<char>(channel::kChannelBytes);
  if (ends.memory == nullptr) return false;
  const int64_t made = system_call(SYS_memfd_create, address_of("halo-channel"), MFD_CLOEXEC);
  if (made < 0) return false;
  ends.descriptor = VG_(safe_fd)(int(made));
  if (ends.descriptor < 0) return false;
  if (!set_channel_size(ends.descriptor)) {
    close(ends.descriptor);
    return false;
  }
  const int64_t mapped =
      system_call(SYS_mmap, address_of(static_cast<char*>(ends.memory)), channel::kChannelBytes,
                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, uint64_t(ends.descriptor), 0);
  if (mapped < 0) {
    close(ends.descriptor);
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
  close(ends.descriptor);
  free_count_ = unused_ = reclaimed_ = 0;
  fill_another();
}

bool Sender::connect(const char* socket_path) {
  Ends ends;
  ends.connection = connect_to(socket_path);
  if (ends.connection < 0 || !make_channel(ends)) return false;
  if (!send_descriptors(ends.connection, ends.descriptor, -1)) return false;
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
      if (header.consumed.load() == consumed && hung_up(connection_)) return lose();
    }
    header.producer_waits.store(0);
  }
}

void Sender::lose() {
  lost_ = true;
  close(connection_);
}

void Sender::before_fork() {
  if (lost_) return;
  int pair[2];
  if (!make_channel(child_)) return;
  if (system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, address_of(pair)) != 0)
    return close(child_.descriptor);
  child_.connection = VG_(safe_fd)(pair[0]);
  consumer_end_ = pair[1];
  // Without both, the consumer would wait for them, and this process for the consumer.
  if (child_.connection < 0 || !send_descriptors(connection_, child_.descriptor, consumer_end_))
    return after_fork_in_parent();
  make_room();
  put(channel::Word::make(channel::WordKind::kFork, 0));
  drain();
}

void Sender::after_fork_in_parent() {
  if (consumer_end_ < 0) return;
  close(child_.descriptor);
  if (child_.connection >= 0) close(child_.connection);
  close(consumer_end_);
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
  close(connection_);
  close(consumer_end_);
  channel::header(child_.memory).pid = VG_(getpid)();
  start(child_);
  instructions_ = 0;
  child_ = Ends{};
  consumer_end_ = -1;
}

}  // namespace halo::valgrind
