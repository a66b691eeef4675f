// The two instructions by which the guest library reaches the recorder.
#include "record/guest/report.h"

extern "C" const char halo_message_store[];

namespace halo::record::guest {

Listener listener = Listener::kUnknown;

void say_hello() {
  if (listener != Listener::kUnknown) return;
  volatile Hello hello{Hello::kQuestion, reinterpret_cast<uint64_t>(halo_message_store)};
  long result;
  // Inline, because libc's syscall() would set errno.
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(kHelloCall), "D"(&hello)
                   : "rcx", "r11", "memory");
  listener = hello.word == Hello::kAnswer ? Listener::kRecorder : Listener::kNobody;
}

// Not inlined, so that there is one such instruction; and first executed after the hello, so that
// QEMU translates it when the recorder knows of it.
[[gnu::noinline, gnu::noclone]] void send(const Message& message) {
  __asm__ volatile(
      ".globl halo_message_store\n\t"
      ".hidden halo_message_store\n"
      "halo_message_store:\n\t"
      "movq %0, (%0)"
      :
      : "r"(&message)
      : "memory");
}

}  // namespace halo::record::guest
