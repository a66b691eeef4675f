// The request and the store by which the guest library reaches the recorder.
#include "interpose/hello.h"
#include "interpose/listener.h"
#include "record/recent_objects.h"

extern "C" const char halo_message_store[];

namespace halo::record {

namespace {

using interpose::Hello;
using interpose::Message;
using interpose::Report;

enum class Peer : int { kUnknown, kRecorder, kNone };
Peer peer = Peer::kUnknown;
bool wants_contents = false;  // answered by the recorder
// Initial-exec, as other models may allocate at the first use.
[[gnu::tls_model("initial-exec")]] constinit thread_local RecentObjects recent_objects;

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
  wants_contents = peer == Peer::kRecorder && hello.wants_contents != 0;
}

void report_contents(RecentObjects::Object object) {
  if (object.address == 0) return;
  send({0, Report::kContents, object.address, object.size, 0});
}

void alloc(void* address, size_t size, uint64_t slot) {
  if (peer != Peer::kRecorder) return;
  if (wants_contents) {
    const uint64_t site = *reinterpret_cast<const uint64_t*>(slot);
    report_contents(recent_objects.allocate(site, {reinterpret_cast<uint64_t>(address), size}));
  }
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
  if (wants_contents) report_contents(recent_objects.remove(reinterpret_cast<uint64_t>(address)));
  send({0, Report::kFree, reinterpret_cast<uint64_t>(address), 0, 0});
}

void revive(void* address) {
  if (peer != Peer::kRecorder) return;
  send({0, Report::kRevive, reinterpret_cast<uint64_t>(address), 0, 0});
}

}  // namespace

}  // namespace halo::record

constinit const halo::interpose::Listener halo::interpose::listener{
    .begin = record::begin,
    .alloc = record::alloc,
    .aligned = record::aligned,
    .reallocated = record::reallocated,
    .free = record::free_object,
    .revive = record::revive,
};
