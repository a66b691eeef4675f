// The two instructions by which the guest library reaches the recorder.
#include "record/guest/report.h"

#include "record/guest/hello.h"

extern "C" const char halo_message_store[];

namespace halo::record::guest {

namespace {

enum class Listener : int { kUnknown, kRecorder, kNobody };
Listener listener = Listener::kUnknown;

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

}  // namespace

void begin_listening() {
  if (listener != Listener::kUnknown) return;
  volatile Hello hello{Hello::kQuestion, reinterpret_cast<uint64_t>(halo_message_store)};
  call_recorder(hello);
  listener = hello.word == Hello::kAnswer ? Listener::kRecorder : Listener::kNobody;
}

void report_alloc(void* address, size_t size, uint64_t slot) {
  if (address == nullptr || listener != Listener::kRecorder) return;
  send({0, Report::kAlloc, reinterpret_cast<uint64_t>(address), size, slot});
}

void report_aligned(void* address, size_t size, uint64_t slot) {
  report_alloc(address, size, slot);
}

void report_free(void* address) {
  if (address == nullptr || listener != Listener::kRecorder) return;
  send({0, Report::kFree, reinterpret_cast<uint64_t>(address), 0, 0});
}

void report_revive(void* address) {
  if (address == nullptr || listener != Listener::kRecorder) return;
  send({0, Report::kRevive, reinterpret_cast<uint64_t>(address), 0, 0});
}

}  // namespace halo::record::guest
