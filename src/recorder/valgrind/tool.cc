// The recording engine: a Valgrind tool that sends a program's events to the consumer.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/code_memory.h"
#include "base/system_call.h"
#include "recorder/channel/word.h"
#include "recorder/valgrind/api.h"
#include "recorder/valgrind/bursts.h"
#include "recorder/valgrind/ir_checks.h"
#include "recorder/valgrind/memory.h"
#include "recorder/valgrind/pending_calls.h"
#include "recorder/valgrind/sender.h"
#include "recorder/valgrind/thread_words.h"
#include "recorder/valgrind/translation.h"
#include "recorder/wrappers/protocol.h"

namespace {

using namespace halo::valgrind;
using halo::channel::Word;
using halo::channel::WordKind;
using halo::interpose::Hello;
using halo::interpose::Message;
using halo::interpose::Report;

constexpr uint64_t kRegions = 1ul << 28;  // of a MiB each
constexpr int kRegionShift = 20;
// An access takes at most two words: its code address, and itself.
static_assert(2 * kMaxAccesses <= halo::channel::kMaxMessageWords);

const HChar* socket_path = nullptr;
Long max_object = 4096;
Sender sender;
Translation translation;
PendingCalls pending_calls;
Bursts bursts;
AccessLists lists;
uint8_t* heap_regions = nullptr;  // by MiB: whether a tracked object was ever there
ThreadId running = VG_INVALID_THREADID;
ThreadId announced_thread =
    VG_INVALID_THREADID;  // the consumer attributes the next words to this thread
int words_offset = 0;     // of the thread's words, within the registers of a running thread

void put(WordKind kind, uint64_t payload) {
  sender.make_room();
  sender.put(Word::make(kind, payload));
}

// --- what translated code calls ---

ThreadWords& words_in(void* registers) {
  return *reinterpret_cast<ThreadWords*>(static_cast<char*>(registers) + words_offset);
}

bool is_recorded(uint64_t address) {
  return heap_regions[address >> kRegionShift & (kRegions - 1)] != 0;
}

void collect_all(const ThreadWords& words, uint32_t place, uint32_t count) {
  const uint64_t* codes = lists.codes(place);
  const uint8_t* tags = lists.tags(place);
  for (uint32_t at = 0; at < count; ++at) {
    if (words.addresses[at] == 0) continue;
    sender.put(Word::make(WordKind::kCode, codes[at]));
    sender.put(Word::access(words.addresses[at], tags[at]));
  }
}

void collect_from(ThreadWords& words) {
  if (words.accesses == 0 || !bursts.recording()) return;
  const uint32_t place = AccessLists::place_of(words.accesses);
  const uint32_t count = AccessLists::count_of(words.accesses);
  words.accesses = 0;
  sender.make_room();
  if (translation.all_accesses) return collect_all(words, place, count);
  const uint8_t* tags = lists.tags(place);
  for (uint32_t at = 0; at < count; ++at)
    if (is_recorded(words.addresses[at])) sender.put(Word::access(words.addresses[at], tags[at]));
}

void collect(void* registers) {
  ThreadWords& words = words_in(registers);
  collect_from(words);
  if (translation.exact) return;
  const auto& state = *static_cast<const VexGuestAMD64State*>(registers);
  switch (bursts.update(state.host_EvC_COUNTER, sender.words())) {
    case Bursts::Change::kNone:
      return;
    case Bursts::Change::kBegins:
      words.accesses = 0;
      put(WordKind::kBurst, bursts.weight());
      break;
    case Bursts::Change::kEnds:
      put(WordKind::kGap, 0);
      break;
  }
  words.collect_at = bursts.collect_at();
}

void take_return(void* registers, uint64_t slot) {
  ThreadWords& words = words_in(registers);
  words.pending = pending_calls.send(running, words.pending + sizeof(PendingCalls::Call), sender);
  put(WordKind::kReturn, slot);
}

void mark_heap(uint64_t address, uint64_t size) {
  if (size > uint64_t(max_object)) return;
  for (uint64_t at = address >> kRegionShift; at <= (address + size) >> kRegionShift; ++at)
    if (at < kRegions) heap_regions[at] = 1;
}

void take_message(void* registers, uint64_t address) {
  const auto& message = *reinterpret_cast<const Message*>(address);
  ThreadWords& words = words_in(registers);
  collect_from(words);
  switch (message.report) {
    case Report::kAlloc:
      mark_heap(message.address, message.size);
      words.pending = pending_calls.send(running, words.pending, sender);
      put(WordKind::kAlloc, message.address);
      sender.put_raw(message.size);
      return sender.put_raw(message.slot);
    case Report::kFree:
      return put(WordKind::kFree, message.address);
    case Report::kRevive:
      return put(WordKind::kRevive, message.address);
    case Report::kAligned:
      return put(WordKind::kAligned, message.address);
    case Report::kReallocated:
      return put(WordKind::kReallocated, message.address);
  }
}

// --- threads ---

// The superblocks that the core lets the thread run for.
uint32_t block_counter(ThreadId thread) {
  uint32_t counter;
  VG_(get_shadow_regs_area)(thread, reinterpret_cast<UChar*>(&counter), 0,
                            offsetof(VexGuestAMD64State, host_EvC_COUNTER), sizeof counter);
  return counter;
}

void start_client_code(ThreadId thread, ULong blocks) {
  running = thread;
  if (thread != announced_thread) put(WordKind::kThread, thread);
  announced_thread = thread;
  bursts.resume(blocks, block_counter(thread));
  ThreadWords words;
  get_thread_words(thread, words);
  words.pending = pending_calls.resume(thread, words.pending, sender);
  words.collect_at = bursts.collect_at();
  words.accesses = 0;
  set_thread_words(thread, words);
  sender.make_room();
}

void stop_client_code(ThreadId thread, ULong) {
  running = VG_INVALID_THREADID;
  if (!bursts.recording()) return;
  ThreadWords words;
  get_all_thread_words(thread, words, words_offset);
  collect_from(words);
}

void end_thread(ThreadId thread) {
  put(WordKind::kThread, thread);
  put(WordKind::kThreadEnd, 0);
  pending_calls.reset(thread);
  announced_thread = VG_INVALID_THREADID;
}

void stack_moved(ThreadId thread) {
  ThreadWords words;
  get_thread_words(thread, words);
  words.pending = PendingCalls::on_stack_moved(words.pending);
  set_thread_words(thread, words);
}

// --- system calls ---

// The consumer resolves return addresses later, so it must receive all pending calls before their
// code is unmapped.
void report_unmapped_code(uint64_t address, uint64_t bytes) {
  bool has_code = false;
  for (uint64_t at = address; at < address + bytes;) {
    const NSegment* segment = VG_(am_find_nsegment)(at);
    if (segment == nullptr) break;
    has_code |= segment->hasX;
    at = segment->end + 1;
  }
  if (!has_code) return;
  put(WordKind::kCodeUnmapped, address);
  sender.put_raw(bytes);
  sender.drain();
}

void read_maps_now() {
  put(WordKind::kReadMaps, 0);
  sender.drain();
}

// The command searches the log for these if the program does not end as it does natively.
//
// The filter of a sandbox applies to the tool's own calls, too.
void report_sandbox() { VG_(umsg)("halo: sandboxed\n"); }
// The translator always rounds to the nearest value.
void report_rounding() {
  static bool reported = false;
  if (!reported) VG_(umsg)("halo: another rounding mode\n");
  reported = true;
}

void before_system_call(ThreadId thread, UInt number, UWord* args, UInt) {
  switch (number) {
    case SYS_mmap:
      if ((args[3] & MAP_FIXED) == 0) return;
      [[fallthrough]];
    case SYS_munmap:
      return report_unmapped_code(args[0], args[1]);
    case SYS_madvise:
      if (!translation.all_accesses || args[2] != MADV_HUGEPAGE) return;
      put(WordKind::kHugePages, args[0]);
      return sender.put_raw(args[1]);
    case SYS_rt_sigreturn:
      return stack_moved(thread);
    case SYS_execve:
    case SYS_execveat:
      return read_maps_now();
    case SYS_seccomp:
      if (args[0] == SECCOMP_SET_MODE_STRICT || args[0] == SECCOMP_SET_MODE_FILTER)
        report_sandbox();
      return;
    case SYS_prctl:
      if (args[0] == PR_SET_SECCOMP) report_sandbox();
      return;
    default:
      return;
  }
}

void after_system_call(ThreadId, UInt number, UWord* args, UInt, SysRes result) {
  const bool forks =
      number == SYS_fork || number == SYS_vfork || number == SYS_clone || number == SYS_clone3;
  // The core calls no function of the tool after a fork that failed.
  if (forks && sr_isError(result)) sender.after_fork_in_parent();
  if (!sr_isError(result) && halo::makes_generated_code(number, args[2], args[3]))
    put(WordKind::kMakesCode, 0);
  const bool code = number == SYS_mmap && (args[2] & PROT_EXEC) != 0;
  if (code || number == SYS_mremap) put(WordKind::kMapsChanged, 0);
}

// --- forks ---

void before_fork(ThreadId) { sender.before_fork(); }
void after_fork_in_parent(ThreadId) { sender.after_fork_in_parent(); }
void after_fork_in_child(ThreadId thread) {
  pending_calls.reset_others(thread);
  sender.after_fork_in_child();
  announced_thread = VG_INVALID_THREADID;
}

// --- the guest library ---

Bool take_request(ThreadId, UWord* arguments, UWord* result) {
  if (arguments[0] != halo::interpose::kHelloRequest) return False;
  auto& hello = *reinterpret_cast<Hello*>(arguments[1]);
  *result = 1;
  if (hello.word == Hello::kReset) {
    put(WordKind::kDropEvents, 0);
    *sender.instruction_counter() = 0;
    return True;
  }
  const NSegment* segment = VG_(am_find_nsegment)(hello.message_store);
  translation.guest_begin = segment->start;
  translation.guest_end = segment->end + 1;
  translation.message_store = hello.message_store;
  hello.word = Hello::kAnswer;
  return True;
}

// --- the life of the tool ---

IRSB* instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                 const VexGuestExtents*, const VexArchInfo*, IRType, IRType) {
  words_offset = offset_of_words(int(layout->total_sizeB));
  ThreadWords words;
  get_thread_words(closure->tid, words);
  const uint64_t returns_to = pending_calls.last_return_address(closure->tid, words.pending);
  return translation.instrument(in, *layout, lists, returns_to);
}

void fini(Int) {
  put(WordKind::kReadMaps, 0);
  put(WordKind::kEnd, 0);
  sender.drain();
}

void post_clo_init() {
  if (socket_path == nullptr || !sender.connect(socket_path)) {
    VG_(umsg)("halo: no consumer listens at %s\n", socket_path != nullptr ? socket_path : "(none)");
    VG_(exit)(1);
  }
  heap_regions = reserve<uint8_t>(kRegions);
  if (heap_regions == nullptr || !lists.reserve(translation.all_accesses) ||
      !pending_calls.reserve_threads(VG_N_THREADS)) {
    VG_(umsg)("halo: too little address space\n");
    VG_(exit)(1);
  }
  if (translation.all_accesses) translation.instructions = sender.instruction_counter();
  translation.collect = collect;
  translation.take_message = take_message;
  translation.take_return = take_return;
  translation.report_rounding = report_rounding;
}

Bool process_option(const HChar* argument) {
  if VG_STR_CLO (argument, "--socket", socket_path) {
  } else if VG_BINT_CLO (argument, "--max-object", max_object, 1, 1 << 28) {
  } else if (VG_STREQ(argument, "--exact")) {
    translation.exact = true;
  } else if (VG_STREQ(argument, "--all-accesses")) {
    translation.all_accesses = true;
  } else if (VG_STREQ(argument, "--check-ir")) {
    check_ir = true;
  } else {
    return False;
  }
  return True;
}

void print_usage() { VG_(printf)("    --socket=PATH   where the consumer listens\n"); }
void print_debug_usage() {}

void pre_clo_init() {
  VG_(details_name)("halo");
  VG_(details_version)(nullptr);
  VG_(details_description)("records where a program's objects come from and how they are used");
  VG_(details_copyright_author)("linked with Valgrind, GNU GPL version 2 or later");
  VG_(details_bug_reports_to)("halo");
  VG_(details_avg_translation_sizeB)(600);
  VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
  VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
  VG_(needs_client_requests)(take_request);
  VG_(needs_syscall_wrapper)(before_system_call, after_system_call);
  VG_(track_start_client_code)(start_client_code);
  VG_(track_stop_client_code)(stop_client_code);
  VG_(track_pre_thread_ll_exit)(end_thread);
  VG_(atfork)(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

extern "C" {
VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
}
