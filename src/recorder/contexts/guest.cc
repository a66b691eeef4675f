// The request and the store by which the guest library reaches the recorder.
#include "recorder/wrappers/hello.h"
#include "recorder/wrappers/listener.h"

extern "C" const char halo_message_store[];

namespace halo::record {

namespace {

using interpose::Hello;
using interpose::Message;
using interpose::Report;

enum class Peer : int { kUnknown, kRecorder, kNone };
Peer peer = Peer::kUnknown;

// Not inlined, so that only one such instruction exists. It is first executed after the hello, so
// it is translated when the recorder has its address.
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

void begin() {
  if (peer != Peer::kUnknown) return;
  volatile Hello hello{Hello::kQuestion, reinterpret_cast<uint64_t>(halo_message_store)};
  interpose::call_recorder(hello);
  peer = hello.word == Hello::kAnswer ? Peer::kRecorder : Peer::kNone;
}

void alloc(void* address, size_t size, uint64_t slot) {
  if (peer != Peer::kRecorder) return;
  send({0, Report::kAlloc, reinterpret_cast<uint64_t>(address), size, slot});
}

void aligned(void* address, size_t size, uint64_t slot) {
  alloc(address, size, slot);
  if (peer != Peer::kRecorder) return;
  send({0, Report::kAligned, reinterpret_cast<uint64_t>(address), 0, 0});
}

void reallocated(void* address, size_t size, uint64_t slot) {
  alloc(address, size, slot);
  if (peer != Peer::kRecorder) return;
  send({0, Report::kReallocated, reinterpret_cast<uint64_t>(address), 0, 0});
}

void free_object(void* address) {
  if (peer != Peer::kRecorder) return;
  send({0, Report::kFree, reinterpret_cast<uint64_t>(address), 0, 0});
}

void revive(void* address) {
  if (peer != Peer::kRecorder) return;
  send({0, Report::kRevive, reinterpret_cast<uint64_t>(address), 0, 0});
}

}  // namespace

}  // namespace halo::record

constinit const halo::interpose::Listener halo::interpose::kListener{
    .begin = record::begin,
    .alloc = record::alloc,
    .aligned = record::aligned,
    .reallocated = record::reallocated,
    .free = record::free_object,
    .revive = record::revive,
};
