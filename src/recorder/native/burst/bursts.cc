// Begins and ends bursts, and dispatches.
#include "recorder/native/burst/bursts.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/own_module.h"
#include "base/system_call.h"
#include "recorder/native/burst/burst_thread.h"
#include "recorder/native/burst/sequences.h"
#include "recorder/native/burst/system_calls.h"

namespace halo::native {

constinit Bursts bursts;

namespace {

// Initial-exec, so that its offset from fs is constant.
[[gnu::tls_model("initial-exec")]] constinit thread_local Storage own_words{};

constexpr uint64_t kByOwnFaults =
    1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) |
    1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1) | 1ull << (SIGABRT - 1);

constexpr int kContextRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};

// Where to look for a place at a boundary: far from what the kernel maps, up to 64 TiB.
constexpr uint64_t kFirstBoundary = uint64_t{1} << 44, kLastBoundary = uint64_t{1} << 46;

uint64_t map_at(uint64_t at, uint64_t bytes) {
  const int64_t made =
      system_call(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0),
                  uint64_t(-1), 0);
  if (made < 0) return 0;
  if (at == 0 || uint64_t(made) == at) return uint64_t(made);
  system_call(SYS_munmap, uint64_t(made), bytes);  // a kernel that takes `at` for a hint
  return 0;
}

// The end of a new buffer: a multiple of Storage::kBoundary; 0 if there is none.
uint64_t make_buffer() {
  static std::atomic<uint64_t> next{kFirstBoundary};
  constexpr uint64_t kBytes = Bursts::kBufferWords * sizeof(uint64_t);
  for (int attempt = 0; attempt < 64; ++attempt) {
    const uint64_t end = next.fetch_add(Storage::kBoundary, std::memory_order_relaxed);
    if (end > kLastBoundary) break;
    if (map_at(end - kBytes, kBytes + Storage::kOverrun) != 0) return end;
  }
  return 0;
}

// The program's own are not always where it is mapped first; the kernel says where.
std::span<const ElfW(Phdr)> segments_of(const dl_find_object& module) {
  if (module.dlfo_link_map->l_name[0] == 0)
    return {reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR)), getauxval(AT_PHNUM)};
  const auto* header = static_cast<const ElfW(Ehdr)*>(module.dlfo_map_start);
  if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto begin = reinterpret_cast<uint64_t>(header);
  return {reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff), header->e_phnum};
}

bool is_of_module(uint64_t address) {
  dl_find_object module;
  return _dl_find_object(reinterpret_cast<void*>(address), &module) == 0;
}

// A return in translated code is a jump, after which a shadow stack would not fit.
bool has_shadow_stack() {
  uint64_t pointer = 0;
  asm volatile("rdsspq %0" : "+r"(pointer));  // without one, it does nothing
  return pointer != 0;
}

// The vector registers hold the program's values while the dispatcher runs.
class VectorsKept {
 public:
  explicit VectorsKept(uint8_t* area) : area_(area) {
    asm volatile("xsave64 (%0)" : : "r"(area_), "a"(kAll), "d"(kAll) : "memory");
    constexpr uint32_t kDefault = 0x1F80;
    asm volatile("ldmxcsr %0" : : "m"(kDefault));
    asm volatile("fninit");
  }
  ~VectorsKept() { asm volatile("xrstor64 (%0)" : : "r"(area_), "a"(kAll), "d"(kAll) : "memory"); }
  VectorsKept(const VectorsKept&) = delete;
  VectorsKept& operator=(const VectorsKept&) = delete;

 private:
  static constexpr uint32_t kAll = UINT32_MAX;
  uint8_t* const area_;
};

}  // namespace

int32_t storage_offset() {
  uint64_t base;
  asm("mov %%fs:0, %0" : "=r"(base));
  return int32_t(reinterpret_cast<uint64_t>(&own_words) - base);
}

Storage& own_storage() { return own_words; }

bool Bursts::begin(Sink sink, Observer observer, bool skips_own) {
  sink_ = sink;
  observer_ = observer;
  skips_own_ = skips_own;
  if (has_shadow_stack() || !cache_.map()) return false;
  stubs_ = make_stubs(cache_, storage_offset(), dispatch);
  translator_.begin(stubs_, storage_offset());
  is_ready_ = true;
  return true;
}

BurstThread* Bursts::thread_state() {
  if (own_words.thread != nullptr) return own_words.thread;
  auto* thread = reinterpret_cast<BurstThread*>(map_at(0, sizeof(BurstThread)));
  if (thread == nullptr) return nullptr;
  thread->buffer_end = make_buffer();
  if (thread->buffer_end == 0) {
    system_call(SYS_munmap, address_of(thread), sizeof(BurstThread));
    return nullptr;
  }
  own_words.thread = thread;
  return thread;
}

void Bursts::adopt(BurstThread*& former) {
  if (own_words.thread == nullptr) own_words.thread = former;
  former = thread_state();
  if (former != nullptr) former->is_over = false;
}

void Bursts::leave_call(ucontext_t& interrupted) {
  constexpr greg_t kCallBytes = 2, kRedZone = 128;
  greg_t* registers = interrupted.uc_mcontext.gregs;
  if (own_words.thread != nullptr) own_words.thread->is_over = true;
  const auto behind = greg_t(reinterpret_cast<uint64_t>(stubs_.paused));
  const bool has_ended = registers[REG_RIP] == behind && registers[REG_RAX] != -EINTR;
  const bool waits = registers[REG_RIP] == behind || registers[REG_RIP] == behind - kCallBytes;
  if (own_words.active != kPaused || !waits || has_ended) return;
  const auto* call = reinterpret_cast<const PausedCall*>(registers[REG_RSP]);
  registers[REG_RAX] = greg_t(call->number);
  registers[REG_RIP] = greg_t(call->next) - kCallBytes;
  registers[REG_RSP] += greg_t{sizeof(PausedCall)} + kRedZone;
  finish(*own_words.thread);
  own_words.active = kInactive;
}

void Bursts::clear_if_wanted() {
  if (!wants_clear_.load(std::memory_order_acquire)) return;
  if (translating_.exchange(true, std::memory_order_acquire)) return;
  if (active_.load(std::memory_order_acquire) == 0) {
    cache_.clear();
    wants_clear_.store(false, std::memory_order_release);
  }
  translating_.store(false, std::memory_order_release);
}

// The cache is not cleared until active_ is decremented. False if it is to be cleared.
bool Bursts::use_cache() {
  active_.fetch_add(1, std::memory_order_acq_rel);
  if (!wants_clear_.load(std::memory_order_acquire)) return true;
  active_.fetch_sub(1, std::memory_order_release);
  return false;
}

bool Bursts::start(ucontext_t& interrupted, uint64_t words, bool in_own) {
  greg_t* registers = interrupted.uc_mcontext.gregs;
  const auto code = uint64_t(registers[REG_RIP]);
  if (own_words.active == kPaused && !cache_.contains(code)) {  // a handler has left the call
    finish(*own_words.thread);
    own_words.active = kInactive;
  }
  if (!is_ready_ || own_words.active != kInactive || cache_.contains(code)) return false;
  if (!in_own && range_of(code).is_recorder) return false;
  BurstThread* thread = thread_state();
  if (thread == nullptr || thread->is_over) return false;
  // The address of its descriptor may have been taken, and not yet told to the kernel.
  for (const int number : kContextRegisters)
    if (begins_sequence(uint64_t(registers[number]), code)) return false;
  clear_if_wanted();
  if (!use_cache()) return false;
  own_words.active = kInBurst;
  thread->words_left = words;
  thread->done_words = 0;
  thread->first_word = own_words.cursor = thread->buffer_end;
  fill_again(*thread);
  auto& mask = reinterpret_cast<uint64_t&>(interrupted.uc_sigmask);
  thread->program_mask = mask;
  mask |= ~kByOwnFaults;
  thread->burst_mask = mask;
  own_words.target = code;
  own_words.exit = UINT32_MAX;
  registers[REG_RIP] = greg_t(reinterpret_cast<uint64_t>(stubs_.dispatch));
  return true;
}

Next Bursts::dispatch(BurstThread& thread) { return bursts.go_on(thread); }

Next Bursts::go_on(BurstThread& thread) {
  if (own_words.active != kInBurst && !resume(thread)) {
    own_words.jump = own_words.target;
    return Next::kNative;
  }
  const bool is_direct = uint32_t(own_words.exit) != UINT32_MAX;
  Exit* exit = is_direct ? &cache_.exit(uint32_t(own_words.exit)) : nullptr;
  const uint64_t at = is_direct ? exit->target : own_words.target;
  if (own_words.cursor >= thread.buffer_end) {
    if (thread.words_left == 0) return end(thread, at);
    observer_(Change::kIsFull);
    fill_again(thread);
  }
  Block* block = block_at(thread, at);
  if (block == nullptr || block->code == nullptr) return end(thread, at);
  if (block->is_system_call) {
    const CallTreatment treated = treatment(thread, is_of_module);
    if (treated == CallTreatment::kPauses && pauses_.load(std::memory_order_relaxed))
      return pause(thread, at);
    if (treated != CallTreatment::kRuns) return end(thread, at);
  } else if (is_direct) {
    exit->code.store(block->code, std::memory_order_release);
  } else {
    cache_.targets()[BlockCache::target_index(at)].store(block, std::memory_order_release);
  }
  own_words.jump = reinterpret_cast<uint64_t>(block->code);
  return Next::kBlock;
}

// Behind the call. The burst may be over: a handler has abandoned it, or forked.
bool Bursts::resume(BurstThread& thread) {
  if (own_words.active != kPaused) return false;
  own_words.active = kInBurst;
  const uint64_t mask = thread.program_mask | ~kByOwnFaults;
  if (mask != thread.burst_mask) {  // the call has changed the program's
    thread.burst_mask = mask;
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&mask), 0, sizeof mask);
  }
  if (use_cache()) {
    observer_(Change::kResumes);
    return true;
  }
  finish(thread);
  return false;
}

// Nothing that the thread keeps is of the cache then, but for the stub.
Next Bursts::pause(BurstThread& thread, uint64_t at) {
  constexpr uint64_t kCallBytes = 2;
  observer_(Change::kPauses);
  thread.buffer_begin = own_words.cursor;
  active_.fetch_sub(1, std::memory_order_release);
  own_words.active = kPaused;
  own_words.target = at + kCallBytes;
  own_words.jump = reinterpret_cast<uint64_t>(stubs_.pause);
  return Next::kBlock;
}

void Bursts::fill_again(BurstThread& thread) {
  thread.done_words = words();
  const uint64_t count = std::min(thread.words_left, kBufferWords);
  thread.words_left -= count;
  thread.first_word = thread.buffer_end - count * sizeof(uint64_t);
  thread.buffer_begin = own_words.cursor = thread.first_word;
}

Next Bursts::end(BurstThread& thread, uint64_t at) {
  finish(thread);
  active_.fetch_sub(1, std::memory_order_release);
  own_words.jump = at;
  return Next::kNative;
}

void Bursts::finish(BurstThread& thread) {
  observer_(Change::kEnds);
  thread.buffer_begin = own_words.cursor = thread.buffer_end;
}

void Bursts::make_call_again(ucontext_t& interrupted) const {
  constexpr greg_t kCallBytes = 2;
  greg_t* registers = interrupted.uc_mcontext.gregs;
  if (registers[REG_RAX] != -EINTR) return;
  if (!is_ready_ || uint64_t(registers[REG_RIP]) != reinterpret_cast<uint64_t>(stubs_.paused))
    return;
  const uint64_t number = reinterpret_cast<const PausedCall*>(registers[REG_RSP])->number;
  if (number == SYS_close) return;  // the file is closed
  registers[REG_RAX] = greg_t(number);
  registers[REG_RIP] -= kCallBytes;
}

Block* Bursts::block_at(BurstThread& thread, uint64_t source) {
  if (Block* known = cache_.find(source)) [[likely]]
    return known;
  if (wants_clear_.load(std::memory_order_relaxed)) return nullptr;
  if (cache_.is_full()) {
    forget();
    return nullptr;
  }
  constexpr int kPatience = 1000;
  for (int turn = 0; translating_.exchange(true, std::memory_order_acquire); ++turn) {
    if (turn > kPatience) return nullptr;
    system_call(SYS_sched_yield);
  }
  Block* block = cache_.find(source);
  if (block == nullptr && !cache_.is_full()) {
    const VectorsKept kept(thread.vectors);
    block = &translator_.translate(source, range_of(source));
  }
  translating_.store(false, std::memory_order_release);
  return block;
}

// The part of a module that contains the code. What is not of a module may change at any time.
CodeRange Bursts::range_of(uint64_t code) const {
  dl_find_object module;
  if (_dl_find_object(reinterpret_cast<void*>(code), &module) != 0) return {.may_change = true};
  const auto begin = reinterpret_cast<uint64_t>(module.dlfo_map_start);
  for (const std::atomic<uint64_t>& changing : changing_)
    if (changing.load(std::memory_order_relaxed) == begin) return {.may_change = true};
  const bool is_recorder = skips_own_ && is_in_own_module(reinterpret_cast<const void*>(code));
  const uint64_t bias = module.dlfo_link_map->l_addr;
  for (const ElfW(Phdr) & segment : segments_of(module)) {
    if (segment.p_type != PT_LOAD || code - bias - segment.p_vaddr >= segment.p_memsz) continue;
    const bool is_code = (segment.p_flags & (PF_X | PF_W)) == PF_X;
    return {.begin = bias + segment.p_vaddr,
            .end = bias + segment.p_vaddr + segment.p_filesz,
            .may_change = !is_code,
            .is_recorder = is_recorder,
            .runs_natively = is_recorder && is_native(code)};
  }
  return {.may_change = true};
}

void Bursts::may_change(uint64_t address, uint64_t size) {
  if (!is_ready_) return;
  for (const uint64_t at : {address, address + size - 1}) {
    const CodeRange range = range_of(at);
    if (range.may_change || range.end <= address || range.begin >= address + size) continue;
    dl_find_object module;
    if (_dl_find_object(reinterpret_cast<void*>(at), &module) != 0) continue;
    const auto begin = reinterpret_cast<uint64_t>(module.dlfo_map_start);
    for (std::atomic<uint64_t>& changing : changing_) {
      uint64_t unused = 0;
      if (changing.compare_exchange_strong(unused, begin) || unused == begin) break;
    }
    forget();
  }
}

bool Bursts::is_native(uint64_t code) const {
  return std::find(std::begin(native_), std::end(native_), code) != std::end(native_);
}

uint64_t Bursts::words() const {
  const BurstThread* thread = own_words.thread;
  if (thread == nullptr) return 0;
  return thread->done_words + (own_words.cursor - thread->first_word) / sizeof(uint64_t);
}

void Bursts::flush() {
  BurstThread* thread = own_words.thread;
  if (thread == nullptr || thread->buffer_begin >= own_words.cursor) return;
  constexpr uint64_t kPart = 32;  // small, as it may be on the program's stack
  Access part[kPart];
  uint64_t count = 0;
  const auto* at = reinterpret_cast<const uint64_t*>(thread->buffer_begin);
  const auto* end = reinterpret_cast<const uint64_t*>(own_words.cursor);
  while (at < end) {
    const Block& block = cache_.number(uint32_t(*at++));
    for (uint32_t i = 0; i < block.operand_count; ++i) {
      const Operand& operand = block.operands[i];
      if (operand.repeated && *at++ == 0) {
        ++at;
        continue;
      }
      part[count++] = {*at++, block.source + operand.at, &operand};
      if (count < kPart) continue;
      sink_({part, count});
      count = 0;
    }
  }
  sink_({part, count});
  thread->buffer_begin = own_words.cursor;
}

void Bursts::leave_at_fault(ucontext_t& faulted) {
  greg_t* registers = faulted.uc_mcontext.gregs;
  const auto code = uint64_t(registers[REG_RIP]);
  if (own_words.active != kInBurst || !cache_.contains(code)) return;
  const Block* block = cache_.containing(code);
  if (block == nullptr || block->place_count == 0) return;
  const Place* places = block->places;
  const auto offset = uint16_t(code - reinterpret_cast<uint64_t>(block->code));
  int place = block->place_count - 1;
  while (place > 0 && places[place].code > offset) --place;
  registers[kContextRegisters[block->scratch]] = greg_t(own_words.scratch);
  registers[kContextRegisters[block->base]] = greg_t(own_words.base);
  const uint64_t source = block->source + places[place].source;
  registers[REG_RIP] = greg_t(source);
  reinterpret_cast<uint64_t&>(faulted.uc_sigmask) = own_words.thread->program_mask;
  own_words.cursor -= block->words * sizeof(uint64_t);  // the rest of its record was not written
  end(*own_words.thread, 0);
  own_words.active = kInactive;
}

void Bursts::after_fork() {
  active_.store(0, std::memory_order_relaxed);
  translating_.store(false, std::memory_order_relaxed);
  own_words.active = kInactive;
}

}  // namespace halo::native
