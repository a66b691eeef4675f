// The QEMU plugin: registers callbacks, and passes their events to the engine.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>

#include "base/code_memory.h"
#include "base/contents.h"
#include "interpose/protocol.h"
#include "qemu/fatal_signal.h"
#include "qemu/qemu_plugin_api.h"
#include "record/code/memory_map.h"
#include "record/engine.h"
#include "record/options.h"
#include "x86/instruction.h"

namespace {

using halo::interpose::Report;

halo::record::Engine* engine = nullptr;  // never destroyed: other threads may still use it
const uint8_t* heap_regions = nullptr;   // owned by the engine
bool all_accesses = false;               // requested by the sinks
halo::AddressRange guest_code;           // of the guest library, after its hello
std::atomic<uint64_t> message_store{0};  // the guest library's instruction, see protocol.h
pthread_key_t thread_key;
__attribute__((tls_model("initial-exec"))) thread_local halo::record::Producer* producer = nullptr;

// --- threads ---

[[gnu::noinline]] halo::record::Producer& begin_thread() {
  producer = &engine->begin_thread();
  pthread_setspecific(thread_key, producer);  // so that end_thread() runs when the thread ends
  return *producer;
}

halo::record::Producer& this_thread() { return producer != nullptr ? *producer : begin_thread(); }

void end_thread(void*) {
  if (producer == nullptr) return;
  engine->end_thread(*producer);
  producer = nullptr;
}

// --- memory accesses ---

// The instruction's properties that an access callback needs, packed into its pointer argument.
struct Site {
  static constexpr int kClassShift = 48;
  static void* pack(uint64_t code, uint32_t alignment_class) {
    return reinterpret_cast<void*>((code & ((1ULL << kClassShift) - 1)) | uint64_t(alignment_class)
                                                                              << kClassShift);
  }
  explicit Site(void* packed) : bits(reinterpret_cast<uint64_t>(packed)) {}
  uint64_t code() const { return bits & ((1ULL << kClassShift) - 1); }
  uint32_t alignment_class() const { return uint32_t(bits >> kClassShift); }
  uint64_t bits;
};

// As qemu_plugin_mem_size_shift() and qemu_plugin_mem_is_store() of 7.2, which would cost two calls
// per access; on_first_access() verifies them.
uint32_t size_log2_of(qemu_plugin_meminfo_t info) { return info >> 4 & 7; }
bool is_store(qemu_plugin_meminfo_t info) { return (info >> 16 & QEMU_PLUGIN_MEM_W) != 0; }

[[gnu::noinline]] void on_heap_access(qemu_plugin_meminfo_t info, uint64_t address, void* packed) {
  const Site site(packed);
  this_thread().access(address, size_log2_of(info), is_store(info), site.alignment_class(),
                       site.code());
}

// Most accesses end here, so it must stay a few instructions long.
void on_access(unsigned, qemu_plugin_meminfo_t info, uint64_t address, void* packed) {
  if (heap_regions[(address >> halo::record::ProducerShared::kRegionShift) &
                   (halo::record::ProducerShared::kRegions - 1)]) {
    on_heap_access(info, address, packed);
  }
}

// Likewise, if the sinks request all accesses.
void on_any_access(unsigned, qemu_plugin_meminfo_t info, uint64_t address, void* packed) {
  on_heap_access(info, address, packed);
}

void on_any_call(unsigned, qemu_plugin_meminfo_t info, uint64_t address, void* return_address) {
  on_heap_access(info, address, return_address);
  if (is_store(info))
    this_thread().stack().call(address, reinterpret_cast<uint64_t>(return_address));
}

void on_any_return(unsigned, qemu_plugin_meminfo_t info, uint64_t address, void* packed) {
  on_heap_access(info, address, packed);
  this_thread().stack().ret(address);
}

// An indirect call may load its target from an object; its store is the return address.
void on_call(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* return_address) {
  if (!is_store(info)) return on_access(vcpu, info, address, return_address);
  this_thread().stack().call(address, reinterpret_cast<uint64_t>(return_address));
}

void on_return(unsigned, qemu_plugin_meminfo_t, uint64_t address, void*) {
  this_thread().stack().ret(address);
}

void on_stack_pointer_load(unsigned, void*) { this_thread().stack().stack_pointer_loaded(); }

// The contents of an object, unless another thread has unmapped it.
void read_contents(uint64_t address, uint64_t size) {
  if (size > engine->shared().max_object_size) return;
  std::array<uint64_t, halo::base::kMaxContentsWords> words{};
  const size_t bytes = halo::base::contents_bytes(size);
  iovec to{words.data(), bytes}, from{reinterpret_cast<void*>(address), bytes};
  if (bytes == 0 || process_vm_readv(getpid(), &to, 1, &from, 1, 0) != ssize_t(bytes)) return;
  const size_t count = halo::base::contents_words(size);
  this_thread().contents(address, size, std::span(words).first(count));
}

// The guest library's reports.
void on_message(unsigned, qemu_plugin_meminfo_t, uint64_t address, void*) {
  const auto& message = *reinterpret_cast<const halo::interpose::Message*>(address);
  switch (message.report) {
    case Report::kAlloc:
      return this_thread().alloc(message.address, message.size, message.slot);
    case Report::kFree:
      return this_thread().free(message.address);
    case Report::kRevive:
      return this_thread().revive(message.address);
    case Report::kAligned:
      return this_thread().aligned(message.address);
    case Report::kReallocated:
      return this_thread().reallocated(message.address);
    case Report::kContents:
      return read_contents(message.address, message.size);
  }
}

void on_first_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* packed) {
  static const bool same = [&] {
    if (size_log2_of(info) == qemu_plugin_mem_size_shift(info) &&
        is_store(info) == qemu_plugin_mem_is_store(info)) {
      return true;
    }
    fprintf(stderr, "halo-recorder: this QEMU describes memory accesses in an unknown way.\n");
    _exit(1);
  }();
  (void)same;
  all_accesses ? on_any_access(vcpu, info, address, packed)
               : on_access(vcpu, info, address, packed);
}

// The functions called for the accesses of a block of code; null if no function is called.
struct Callbacks {
  qemu_plugin_mem_cb_t access, call, ret;
  bool pushes_too;  // also for pushes, pops and operands relative to the stack pointer
};

Callbacks callbacks_for(uint64_t code) {
  static std::atomic<int> checked{0};
  Callbacks found{on_access, on_call, on_return, false};
  if (all_accesses && guest_code.contains(code)) {
    found.access = nullptr;  // the guest library's own code is not part of the program
    return found;
  }
  if (all_accesses) found = {on_any_access, on_any_call, on_any_return, true};
  if (checked.fetch_add(1) < 16) found.access = on_first_access;
  return found;
}

void on_translate(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  const Callbacks callbacks =
      callbacks_for(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0)));
  if (callbacks.pushes_too || !all_accesses) {
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                             engine->instruction_counter(), count);
  }
  for (size_t at = 0; at < count; ++at) {
    qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(block, at);
    const uint64_t code = qemu_plugin_insn_vaddr(insn);
    const size_t size = qemu_plugin_insn_size(insn);
    const auto facts =
        halo::x86::inspect({static_cast<const uint8_t*>(qemu_plugin_insn_data(insn)), size});
    qemu_plugin_mem_cb_t callback = callbacks.access;
    void* data = Site::pack(code, facts.alignment_class);
    if (code == message_store) {
      callback = on_message;
    } else if (facts.flow == halo::x86::Flow::kCall) {
      callback = callbacks.call;
      data = Site::pack(code + size, 0);
    } else if (facts.flow == halo::x86::Flow::kReturn) {
      callback = callbacks.ret;
    } else if (facts.flow == halo::x86::Flow::kMoveStack) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stack_pointer_load, QEMU_PLUGIN_CB_NO_REGS,
                                             nullptr);
    }
    // A stack is never inside an object small enough to be tracked.
    if (facts.only_stack && facts.flow != halo::x86::Flow::kCall && !callbacks.pushes_too) continue;
    if (callback == nullptr) continue;
    qemu_plugin_register_vcpu_mem_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     data);
  }
}

// --- system calls ---

void answer_hello(uint64_t address) {
  using halo::interpose::Hello;
  Hello hello{};
  iovec to{&hello, sizeof hello}, from{reinterpret_cast<void*>(address), sizeof hello};
  const bool read = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof hello;
  if (read && hello.word == Hello::kReset) return engine->drop_events(this_thread());
  const bool same = read && hello.word == Hello::kQuestion;
  if (!same) {
    fprintf(stderr, "halo-recorder: guest memory is not at its own addresses (guest base).\n");
    _exit(1);
  }
  guest_code = halo::record::find_own_mapping(hello.message_store);
  message_store = hello.message_store;
  auto& answer = *reinterpret_cast<Hello*>(address);
  answer.wants_contents = engine->shared().contents ? 1 : 0;
  answer.word = Hello::kAnswer;
}

// An exec that succeeds ends this recording; after one that fails, the part is written again later.
void before_exec(int directory, uint64_t path, uint64_t flags) {
  const char* name = reinterpret_cast<const char*>(path);
  if (name == nullptr) return;
  const bool by_descriptor = (flags & AT_EMPTY_PATH) != 0 && *name == 0;
  if (by_descriptor || faccessat(directory, name, X_OK, 0) == 0) engine->write_part();
}

void on_syscall(qemu_plugin_id_t, unsigned, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                uint64_t a4, uint64_t a5, uint64_t, uint64_t, uint64_t) {
  if (halo::makes_generated_code(number, a3, a4)) engine->contexts().code_generated();
  switch (number) {
    case halo::interpose::kHelloCall:
      return answer_hello(a1);
    case SYS_mmap:
      if ((a4 & 0x10) == 0) return engine->contexts().mappings_changed();  // not MAP_FIXED
      [[fallthrough]];
    case SYS_munmap:
      return engine->contexts().drop_code({a1, a1 + a2});
    case SYS_madvise:
      if (all_accesses && a3 == MADV_HUGEPAGE) this_thread().huge_pages(a1, a2);
      return;
    case SYS_mremap:
      return engine->contexts().mappings_changed();
    case SYS_rt_sigreturn:
      return this_thread().stack().stack_pointer_loaded();
    case SYS_execve:
      return before_exec(AT_FDCWD, a1, 0);
    case SYS_execveat:
      return before_exec(int(a1), a2, a5);
    case SYS_exit:
    case SYS_exit_group:
      return this_thread().flush();
    default:
      return;
  }
}

void on_exit(qemu_plugin_id_t, void*) { engine->write_part(); }

// --- forks ---

void before_fork() { engine->before_fork(); }
void after_fork_in_parent() { engine->after_fork_in_parent(); }
void after_fork_in_child() { engine->after_fork_in_child(producer); }

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t* info, int argc,
                                                               char** argv) {
  if (info->version.cur != 1 || info->system_emulation ||
      strcmp(info->target_name, "x86_64") != 0) {
    fprintf(stderr,
            "halo-recorder: needs qemu-x86_64 (user mode) with plugin interface version 1; this "
            "is %s, version %d.\n",
            info->target_name, info->version.cur);
    return 1;
  }
  halo::record::Options options;
  if (!halo::record::parse_options({argv, size_t(argc)}, options)) return 1;
  try {
    engine = new halo::record::Engine(options);
  } catch (const std::exception& error) {
    fprintf(stderr, "halo-recorder: cannot start: %s\n", error.what());
    return 1;
  }
  heap_regions = engine->shared().heap_regions.data();
  all_accesses = engine->shared().all_accesses;
  pthread_key_create(&thread_key, end_thread);
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (!halo::qemu::call_before_fatal_signal([] { engine->write_part(); })) {
    fprintf(stderr,
            "halo-recorder: a process that dies of a signal will leave no part: this QEMU "
            "does not call kill.\n");
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
}
