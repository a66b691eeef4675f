// Addresses of Unix sockets, without a C library.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>

namespace halo {

// The address of the socket at that path, or of that name in the abstract namespace if it begins
// with '@' (unix(7)). Returns its size, 0 if it is too long.
inline uint64_t socket_address(const char* path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  uint64_t length = 0;
  for (; path[length] != 0; ++length) {
    if (length + 1 == sizeof address.sun_path) return 0;
    address.sun_path[length] = path[length];
  }
  if (address.sun_path[0] != '@') return sizeof address;
  address.sun_path[0] = 0;
  return offsetof(sockaddr_un, sun_path) + length;
}

}  // namespace halo
