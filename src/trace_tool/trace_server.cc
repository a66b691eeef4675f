// Serves each connection in its own process: sinks are large, and a failing process affects no
// other.
#include "trace_tool/trace_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "record/listener.h"

namespace halo::trace_tool {

namespace {

class Server {
 public:
  Server(int listener, const std::function<int(int)>& read) : listener_(listener), read_(read) {}

  int serve() {
    for (pollfd both[2] = {{listener_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};;) {
      if (poll(both, 2, -1) < 0 && errno != EINTR) break;
      accept_all();
      char ignored[64];
      if (both[1].revents != 0 && ::read(STDIN_FILENO, ignored, sizeof ignored) <= 0) break;
    }
    accept_all();  // clients that connected just before the end
    for (const Reader& reader : readers_) wait_for(reader);
    return max_status_;
  }

 private:
  struct Reader {
    pid_t process;
    pid_t traced;
  };

  void accept_all() {
    for (;;) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      ucred traced{};
      socklen_t size = sizeof traced;
      getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &traced, &size);
      const pid_t process = fork();
      if (process == 0) {
        close(listener_);
        _exit(read_(connection));
      }
      if (process > 0) readers_.push_back({process, traced.pid});
      if (process < 0) max_status_ = 1;
      close(connection);
    }
  }

  void wait_for(const Reader& reader) {
    int status = 0;
    while (waitpid(reader.process, &status, WNOHANG) == 0) {
      if (record::is_running(reader.traced)) kill(reader.process, SIGKILL);
      const timespec pause{0, 5000000};
      nanosleep(&pause, nullptr);
    }
    max_status_ = std::max(max_status_, WIFEXITED(status) ? WEXITSTATUS(status) : 0);
  }

  int listener_;
  const std::function<int(int)>& read_;
  std::vector<Reader> readers_;
  int max_status_ = 0;
};

}  // namespace

int serve_traces(const std::string& socket_path, const std::function<int(int)>& read) {
  const int listener = record::listen_at(socket_path);
  if (listener < 0) {
    fprintf(stderr, "%s: %s\n", socket_path.c_str(), strerror(errno));
    return 1;
  }
  puts("ready");
  fflush(stdout);
  return Server(listener, read).serve();
}

}  // namespace halo::trace_tool
