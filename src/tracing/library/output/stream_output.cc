// `socket:PATH` and `pipe:FD`: the trace as a stream to a reader.
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/output_path.h"
#include "tracing/library/output/descriptor.h"
#include "tracing/library/output/frame_output.h"

namespace halo::logging {

namespace {

class StreamOutput : public FrameOutput {
 protected:
  ~StreamOutput() = default;

  // Blocks until the reader has room, as a write does. The consumer has SIGPIPE blocked.
  bool put(const void* bytes, size_t count) final {
    const char* at = static_cast<const char*>(bytes);
    if (!descriptor_.is_ours()) return false;
    while (count != 0) {
      const ssize_t done = put_some(at, count);
      if (done < 0 && errno == EAGAIN) {
        pollfd writable{descriptor_.number(), POLLOUT, 0};
        poll(&writable, 1, -1);
        continue;
      }
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      at += done;
      count -= size_t(done);
    }
    return true;
  }
  virtual ssize_t put_some(const void* /*bytes*/, size_t /*count*/) { return -1; }

  Descriptor descriptor_;
};

class SocketOutput final : public StreamOutput {
 public:
  bool set_path(const char* path) {
    address_.sun_family = AF_UNIX;
    if (*path == '\0' || strlen(path) >= sizeof address_.sun_path) return false;
    // Made absolute for children in other directories; unchanged if it is too long.
    char absolute[PATH_MAX];
    const bool fits = make_absolute(path, absolute) < sizeof address_.sun_path;
    strcpy(address_.sun_path, fits ? absolute : path);
    return true;
  }

  bool begin_in_child() override {
    descriptor_.close();
    reset();
    return true;
  }

 protected:
  bool open() override {
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 &&
        connect(descriptor, reinterpret_cast<sockaddr*>(&address_), sizeof address_) != 0) {
      close(descriptor);
      descriptor = -1;
    }
    descriptor_.hold(move_to_high_number(descriptor));
    return descriptor_.number() >= 0;
  }
  ssize_t put_some(const void* bytes, size_t count) override {
    return send(descriptor_.number(), bytes, count, MSG_NOSIGNAL);
  }

 private:
  sockaddr_un address_{};
};

class PipeOutput final : public StreamOutput {
 public:
  bool take(const char* argument) {
    char* end;
    const long descriptor = strtol(argument, &end, 10);
    struct stat status{};
    if (end == argument || *end != '\0' || descriptor < 0 || descriptor > INT32_MAX) return false;
    if (fstat(int(descriptor), &status) != 0) return false;
    if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) return false;
    descriptor_.hold(move_to_high_number(int(descriptor)));
    return descriptor_.number() >= 0;
  }

  int inherited_descriptor() const override { return descriptor_.number(); }

  // Two processes cannot share a stream.
  bool begin_in_child() override {
    descriptor_.close();
    return false;
  }

 protected:
  bool open() override { return descriptor_.is_ours(); }
  ssize_t put_some(const void* bytes, size_t count) override {
    return ::write(descriptor_.number(), bytes, count);
  }
};

constinit SocketOutput socket_output;
constinit PipeOutput pipe_output;

// Programs that this process executes later must not use the same descriptor number.
void hide_from_children() {
  if (char* value = getenv("HALO_TRACE")) *value = '\0';
}

}  // namespace

Output* make_socket_output(const char* argument) {
  return socket_output.set_path(argument) ? &socket_output : nullptr;
}

Output* make_pipe_output(const char* argument) {
  const bool taken = pipe_output.take(argument);
  hide_from_children();
  return taken ? &pipe_output : nullptr;
}

}  // namespace halo::logging
