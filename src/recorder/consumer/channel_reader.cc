// Waits for chunks, and receives descriptors.
#include "recorder/consumer/channel_reader.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace halo::consumer {

namespace {

using channel::Header;

constexpr timespec kCheckInterval{0, 20'000'000};

void close_if_open(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

}  // namespace

Descriptors receive(int connection) {
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  while ((got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  Descriptors found;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (got <= 0 || head == nullptr || head->cmsg_type != SCM_RIGHTS) return found;
  const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  memcpy(&found.memory, CMSG_DATA(head), sizeof(int));
  if (count > 1) memcpy(&found.connection, CMSG_DATA(head) + sizeof(int), sizeof(int));
  return found;
}

ChannelReader::ChannelReader(const Descriptors& ends) : ends_(ends) {
  if (ends_.memory < 0) return;
  void* mapped =
      mmap(nullptr, channel::kChannelBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ends_.memory, 0);
  if (mapped != MAP_FAILED && channel::header(mapped).magic == channel::kMagic) base_ = mapped;
}

ChannelReader::~ChannelReader() {
  if (base_ != nullptr) munmap(base_, channel::kChannelBytes);
  close_if_open(ends_.memory);
  close_if_open(ends_.connection);
}

std::span<const uint64_t> ChannelReader::next() {
  Header& header = channel::header(base_);
  const uint32_t number = header.consumed.load(std::memory_order_relaxed);
  if (header.published.load(std::memory_order_acquire) == number) {
    header.consumer_waits.store(1);
    if (header.published.load() == number)
      syscall(SYS_futex, &header.published, FUTEX_WAIT, number, &kCheckInterval, nullptr, 0);
    header.consumer_waits.store(0);
  }
  if (header.published.load(std::memory_order_acquire) == number) return {};
  const channel::Entry entry = header.entries[number % channel::kChunks];
  return {channel::chunk(base_, entry.chunk), entry.words};
}

void ChannelReader::release() {
  Header& header = channel::header(base_);
  header.consumed.store(header.consumed.load(std::memory_order_relaxed) + 1);
  if (header.producer_waits.load() != 0)
    syscall(SYS_futex, &header.consumed, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool ChannelReader::connected() const {
  pollfd one{ends_.connection, POLLRDHUP, 0};
  return poll(&one, 1, 0) == 0 || (one.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0;
}

}  // namespace halo::consumer
