#include "recorder/effects/syscall_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace halo::effects {
namespace {

// What an argument says of the effect.
enum class Argument { kNone, kPath, kSocket };

struct Call {
  unsigned number;
  const char* name;
  Argument kind = Argument::kNone;
  unsigned at = 0;  // the number of that argument
  // The call has an effect only if argument `condition` has one of the bits of `mask`.
  unsigned condition = 0;
  uint32_t mask = 0;
};

constexpr uint32_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
constexpr uint32_t kCreates = O_CREAT | O_EXCL;
constexpr uint32_t kX32 = 0x40000000;

// To add a call, add a line.
constexpr Call kCalls[] = {
    {SYS_open, "open", Argument::kPath, 0, 1, kWrites},
    {SYS_openat, "openat", Argument::kPath, 1, 2, kWrites},
    {SYS_openat2, "openat2", Argument::kPath, 1},
    {SYS_creat, "creat", Argument::kPath, 0},
    {SYS_rename, "rename", Argument::kPath, 1},
    {SYS_renameat, "renameat", Argument::kPath, 3},
    {SYS_renameat2, "renameat2", Argument::kPath, 3},
    {SYS_unlink, "unlink", Argument::kPath, 0},
    {SYS_unlinkat, "unlinkat", Argument::kPath, 1},
    {SYS_mkdir, "mkdir", Argument::kPath, 0},
    {SYS_mkdirat, "mkdirat", Argument::kPath, 1},
    {SYS_rmdir, "rmdir", Argument::kPath, 0},
    {SYS_link, "link", Argument::kPath, 1},
    {SYS_linkat, "linkat", Argument::kPath, 3},
    {SYS_symlink, "symlink", Argument::kPath, 1},
    {SYS_symlinkat, "symlinkat", Argument::kPath, 2},
    {SYS_mknod, "mknod", Argument::kPath, 0},
    {SYS_mknodat, "mknodat", Argument::kPath, 1},
    {SYS_truncate, "truncate", Argument::kPath, 0},
    {SYS_chmod, "chmod", Argument::kPath, 0},
    {SYS_fchmodat, "fchmodat", Argument::kPath, 1},
    {SYS_utimensat, "utimensat", Argument::kPath, 1},
    {SYS_bind, "bind", Argument::kSocket, 1},
    {SYS_connect, "connect", Argument::kSocket, 1},
    {SYS_sendto, "sendto", Argument::kSocket, 4, 4, ~uint32_t{0}},
    {SYS_sendmsg, "sendmsg"},
    {SYS_sendmmsg, "sendmmsg"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_shmget, "shmget"},
    {SYS_semget, "semget"},
    {SYS_msgget, "msgget"},
    {SYS_mq_open, "mq_open", Argument::kPath, 0},
    {SYS_io_uring_setup, "io_uring_setup"},
    // These would go on while the process is stopped, or are not stopped with it.
    {SYS_alarm, "alarm"},
    {SYS_setitimer, "setitimer"},
    {SYS_timer_create, "timer_create"},
    {SYS_timerfd_settime, "timerfd_settime"},
    {SYS_setsid, "setsid"},
    {SYS_setpgid, "setpgid"},
};
// Of fcntl, whose other commands have no such effect.
constexpr uint32_t kLocks[] = {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW};

constexpr uint32_t low_half(unsigned argument) {
  return uint32_t(offsetof(seccomp_data, args) + argument * sizeof(uint64_t));
}

class Filter {
 public:
  void load(uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  // The next `skipped` instructions run only if the condition holds.
  void unless(uint16_t condition, uint32_t value, uint8_t skipped) {
    jump(condition, value, 0, skipped);
  }
  // The next instruction runs only if it does not hold.
  void skip_if(uint16_t condition, uint32_t value) { jump(condition, value, 1, 0); }
  void stop() { add(BPF_RET | BPF_K, SECCOMP_RET_TRACE); }
  void run() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  bool install() {
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void jump(uint16_t condition, uint32_t value, uint8_t if_true, uint8_t if_false) {
    code_.push_back({uint16_t(BPF_JMP | condition | BPF_K), if_true, if_false, value});
  }
  void add(uint16_t code, uint32_t value) { code_.push_back({code, 0, 0, value}); }
  std::vector<sock_filter> code_;
};

void add_call(Filter& filter, const Call& call) {
  if (call.number == SYS_fcntl) {
    filter.unless(BPF_JEQ, call.number, uint8_t(2 + 2 * std::size(kLocks)));
    filter.load(low_half(1));
    for (const uint32_t lock : kLocks) {
      filter.unless(BPF_JEQ, lock, 1);
      filter.stop();
    }
    filter.run();
  } else if (call.mask != 0) {
    filter.unless(BPF_JEQ, call.number, 4);
    filter.load(low_half(call.condition));
    filter.unless(BPF_JSET, call.mask, 1);
    filter.stop();
    filter.run();
  } else {
    filter.unless(BPF_JEQ, call.number, 1);
    filter.stop();
  }
}

bool read_memory(pid_t process, uint64_t address, void* into, size_t bytes) {
  const iovec here{into, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(process, &here, 1, &there, 1, 0) == ssize_t(bytes);
}

std::string read_path(pid_t process, uint64_t address) {
  std::string path;
  for (char next; path.size() < PATH_MAX && read_memory(process, address++, &next, 1) && next;)
    path += next;
  return path;
}

bool is_harmless_path(std::string_view path) {
  constexpr std::string_view kDevices[] = {"/dev/null",   "/dev/zero",   "/dev/full",
                                           "/dev/tty",    "/dev/stdout", "/dev/stderr",
                                           "/dev/random", "/dev/urandom"};
  constexpr std::string_view kFolders[] = {"/dev/fd/", "/dev/pts/", "/proc/self/fd/"};
  return std::ranges::find(kDevices, path) != std::end(kDevices) ||
         std::ranges::any_of(kFolders, [&](std::string_view it) { return path.starts_with(it); });
}

// The address in words; empty if it is of the name service, or of the kernel.
std::string socket_name(pid_t process, uint64_t address) {
  sockaddr_un found{};
  if (!read_memory(process, address, &found.sun_family, sizeof found.sun_family)) return "a socket";
  if (found.sun_family == AF_NETLINK) return "";
  if (found.sun_family != AF_UNIX) return "a network address";
  const std::string path = read_path(process, address + offsetof(sockaddr_un, sun_path));
  if (path.empty()) return "a socket without a file";
  return path == "/var/run/nscd/socket" || path == "/run/nscd/socket" ? "" : path;
}

using Arguments = std::array<uint64_t, 6>;

// Of a call that opens a file; nothing of others.
std::optional<uint64_t> open_flags(pid_t process, const Call& call, const Arguments& arguments) {
  if (call.mask == kWrites) return arguments[call.condition];
  open_how how{};
  if (call.number != SYS_openat2 || !read_memory(process, arguments[2], &how, sizeof how))
    return {};
  return how.flags;
}

bool removes(const Call& call) {
  return call.number == SYS_unlink || call.number == SYS_unlinkat || call.number == SYS_rmdir;
}

bool exists(pid_t process, const Call& call, const Arguments& arguments, const std::string& path) {
  const int folder = call.at == 0 ? AT_FDCWD : int(arguments[0]);
  const std::string of_process = "/proc/" + std::to_string(process);
  const std::string base = folder == AT_FDCWD ? of_process + "/cwd/"
                                              : of_process + "/fd/" + std::to_string(folder) + '/';
  return faccessat(AT_FDCWD, (path.starts_with('/') ? path : base + path).c_str(), F_OK,
                   AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

bool install_filter() {
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.skip_if(BPF_JEQ, AUDIT_ARCH_X86_64);
  filter.stop();
  filter.load(offsetof(seccomp_data, nr));
  filter.unless(BPF_JGE, kX32, 1);
  filter.stop();
  for (const Call& call : kCalls) add_call(filter, call);
  filter.run();
  return filter.install();
}

void Effects::add(pid_t process, const user_regs_struct& registers) {
  const auto* call = std::ranges::find(kCalls, unsigned(registers.orig_rax),
                                       [](const Call& it) { return it.number; });
  if (call == std::end(kCalls)) return add("a system call of another architecture");
  const Arguments arguments{registers.rdi, registers.rsi, registers.rdx,
                            registers.r10, registers.r8,  registers.r9};
  if (call->kind == Argument::kNone) return add(call->name);
  const std::string what = call->kind == Argument::kPath
                               ? read_path(process, arguments[call->at])
                               : socket_name(process, arguments[call->at]);
  if (call->kind == Argument::kPath) {
    if (is_harmless_path(what) || created_.contains(what)) return;
    const std::optional<uint64_t> flags = open_flags(process, *call, arguments);
    if (flags && ((*flags & kWrites) == 0 || (*flags & O_TMPFILE) == O_TMPFILE)) return;
    if (flags && (*flags & kCreates) == kCreates) {
      created_.insert(what);
      return;
    }
    if (removes(*call) && !exists(process, *call, arguments, what)) return;
  }
  if (!what.empty()) add(std::string(call->name) + ' ' + what);
}

void Effects::add(const std::string& effect) {
  if (first_.empty()) first_ = effect;
}

}  // namespace halo::effects
