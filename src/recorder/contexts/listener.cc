// Sockets and /proc.
#include "recorder/contexts/listener.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <fstream>

#include "base/socket_address.h"

namespace halo::record {

namespace {

constexpr int kBacklog = 128;

}  // namespace

int listen_at(const std::string& path) {
  sockaddr_un address;
  const uint64_t size = socket_address(path.c_str(), address);
  if (size == 0) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), socklen_t(size)) != 0 ||
      listen(listener, kBacklog) != 0)
    return -1;
  return listener;
}

bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

}  // namespace halo::record
