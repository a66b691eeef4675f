// The engine's end of the connection to a consumer, without a C library.
#pragma once

#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include <cstdint>

#include "base/socket_address.h"
#include "base/system_call.h"

namespace halo::channel {

inline void close(int descriptor) { system_call(SYS_close, uint64_t(descriptor)); }

// Whether the other end is closed.
inline bool hung_up(int connection) {
  pollfd one{connection, 0, 0};
  timespec no_wait{0, 0};
  return system_call(SYS_ppoll, address_of(&one), 1, address_of(&no_wait)) == 1;
}

// To the socket of that name (base/socket_address.h); negative on failure.
inline int connect_to(const char* path) {
  sockaddr_un address;
  const uint64_t size = socket_address(path, address);
  const int64_t made = system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
  if (made < 0) return -1;
  if (size != 0 && system_call(SYS_connect, uint64_t(made), address_of(&address), size) == 0)
    return int(made);
  close(int(made));
  return -1;
}

inline constexpr uint32_t kNoUser = UINT32_MAX;
// Of the process at the other end, when it connected or listened; kNoUser if that is not known.
inline uint32_t user_of_peer(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const int64_t result = system_call(SYS_getsockopt, uint64_t(connection), SOL_SOCKET, SO_PEERCRED,
                                     address_of(&peer), address_of(&size));
  return result == 0 ? peer.uid : kNoUser;
}

// Sends one byte with a descriptor, or two if `second` is not negative.
inline bool send_descriptors(int connection, int first, int second = -1) {
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

namespace detail {

// The program may limit the size of files, and the kernel sends SIGXFSZ for larger ones. So the
// limit is raised meanwhile; returns false if that is forbidden.
inline bool set_size(int descriptor, uint64_t bytes) {
  rlimit limit{};
  if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, address_of(&limit)) != 0) return false;
  const bool is_low = limit.rlim_cur < bytes;
  if (is_low) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (raised.rlim_cur < bytes) return false;
    if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, address_of(&raised)) != 0) return false;
  }
  const int64_t result = system_call(SYS_ftruncate, uint64_t(descriptor), bytes);
  if (is_low) system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, address_of(&limit));
  return result == 0;
}

}  // namespace detail

// A descriptor of memory to be shared, all zeroes; negative on failure.
inline int make_memory(uint64_t bytes) {
  const int64_t made = system_call(SYS_memfd_create, address_of("halo-channel"), MFD_CLOEXEC);
  if (made < 0) return -1;
  if (detail::set_size(int(made), bytes)) return int(made);
  close(int(made));
  return -1;
}

}  // namespace halo::channel
