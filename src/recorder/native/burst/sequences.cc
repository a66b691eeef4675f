// Reads descriptors as the kernel does.
#include "recorder/native/burst/sequences.h"

#include <linux/rseq.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/system_call.h"

namespace halo::native {

namespace {

constexpr uint64_t kMaxDistance = 256, kMaxLength = 4096;
constexpr uint32_t kSignature = 0x53053053;  // RSEQ_SIG of x86, which the kernel requires

// Of this process; false if it is not mapped.
bool read_memory(uint64_t from, void* to, uint64_t bytes) {
  iovec mine{to, bytes}, other{reinterpret_cast<void*>(from), bytes};
  const auto own = uint64_t(system_call(SYS_getpid));
  const int64_t read =
      system_call(SYS_process_vm_readv, own, address_of(&mine), 1, address_of(&other), 1, 0);
  return read == int64_t(bytes);
}

}  // namespace

bool begins_sequence(uint64_t descriptor, uint64_t code) {
  const auto distance = int64_t(descriptor - code);
  if (descriptor % alignof(rseq_cs) != 0 || distance != int32_t(distance)) return false;
  rseq_cs found;
  uint32_t signature = 0;
  return read_memory(descriptor, &found, sizeof found) && found.version == 0 &&
         found.start_ip - code < kMaxDistance && found.post_commit_offset < kMaxLength &&
         read_memory(found.abort_ip - sizeof signature, &signature, sizeof signature) &&
         signature == kSignature;
}

}  // namespace halo::native
