// The stubs.
#include "recorder/native/burst/stubs.h"

#include <sys/syscall.h>

#include <initializer_list>
#include <iterator>
#include <span>

#include "recorder/native/burst/burst_thread.h"
#include "recorder/native/burst/storage.h"

namespace halo::native {

namespace {

constexpr uint64_t kSetMask = 2;  // SIG_SETMASK
constexpr uint64_t kMaskBytes = 8;
constexpr int32_t kRedZone = 128, kWord = 8;

Memory word_of(Register thread, size_t offset) {
  return {.base = thread, .offset = int32_t(offset)};
}
Memory register_of(Register thread, int number) {
  return word_of(thread, offsetof(BurstThread, registers) + 8 * size_t(number));
}

class Maker {
 public:
  Maker(BlockCache& cache, int32_t storage)
      : cache_(cache), storage_(storage), emit_(cache.code()) {}

  Stubs make(Next (*dispatch)(BurstThread&)) {
    Stubs stubs;
    stubs.dispatch = emit_.at();
    make_dispatch(dispatch);
    stubs.indirect = emit_.at();
    make_indirect(stubs.dispatch);
    stubs.pause = emit_.at();
    stubs.paused = make_pause(stubs.dispatch);
    cache_.keep_stubs(emit_.at());
    return stubs;
  }

 private:
  int32_t own(size_t field) const { return storage_ + int32_t(field); }

  void save_registers() {
    emit_.store_own(kRax, own(offsetof(Storage, third)));
    emit_.load_own(kRax, own(offsetof(Storage, thread)));
    for (int number = kRcx; number <= kR15; ++number)
      emit_.store(Register(number), register_of(kRax, number));
    emit_.load_own(kRcx, own(offsetof(Storage, third)));
    emit_.store(kRcx, register_of(kRax, kRax));
  }
  // From the thread's state, which rax points to.
  void load_registers() {
    for (int number = kRcx; number <= kR15; ++number)
      emit_.load(Register(number), register_of(kRax, number));
    emit_.load(kRax, register_of(kRax, kRax));
  }

  void make_dispatch(Next (*dispatch)(BurstThread&)) {
    save_registers();
    emit_.address(kRsp, word_of(kRax, offsetof(BurstThread, top)));
    raw({0x9C});              // pushfq
    raw({0x50});              // push rax
    raw({0xFC});              // cld
    raw({0x48, 0x89, 0xC7});  // mov rdi, rax
    emit_.constant(kRax, reinterpret_cast<uint64_t>(dispatch));
    raw({0xFF, 0xD0});                     // call rax
    raw({0x85, 0xC0});                     // test eax, eax
    raw({0x58});                           // pop rax
    uint8_t* native = emit_.jump_if(0x5);  // not zero
    raw({0x9D});                           // popfq
    load_registers();
    emit_.jump_to_own(own(offsetof(Storage, jump)));

    emit_.patch(native);
    raw({0x9D});
    load_registers();
    // With the program's mask again, waiting signals arrive. Their handlers see this code, on the
    // program's stack. They may have bursts, so that what follows is on the stack, too.
    constexpr Register kUsed[] = {kRax, kRcx, kRdi, kRsi, kRdx, kR10, kR11};
    emit_.address(kRsp, {.base = kRsp, .offset = -kRedZone - kWord});
    push_all(kUsed);
    emit_.load_own(kRax, own(offsetof(Storage, jump)));
    emit_.store(kRax, {.base = kRsp, .offset = kWord * int32_t{std::size(kUsed)}});
    emit_.store_own(own(offsetof(Storage, active)), kInactive);
    emit_.constant(kRdx, 0);
    set_mask(offsetof(BurstThread, program_mask));
    pop_all(kUsed);
    raw({0xC2, kRedZone, 0});  // ret: also over the red zone
  }

  // The signal mask of that member of BurstThread; the former one is stored at rdx.
  void set_mask(size_t member) {
    emit_.load_own(kRsi, own(offsetof(Storage, thread)));
    emit_.address(kRsi, word_of(kRsi, member));
    emit_.constant(kRdi, kSetMask);
    emit_.constant(kR10, kMaskBytes);
    emit_.constant(kRax, SYS_rt_sigprocmask);
    raw({0x0F, 0x05});
  }

  // Signal handlers may run here, have bursts themselves, and never return. So what this needs is
  // on the stack, behind the red zone. Returns the place behind the call.
  const uint8_t* make_pause(const uint8_t* dispatch) {
    constexpr int32_t kShift = kRedZone + int32_t{sizeof(PausedCall)};
    constexpr Register kUsed[] = {kRax, kRdi, kRsi, kRdx, kR10};
    emit_.address(kRsp, {.base = kRsp, .offset = -kShift});
    emit_.load_own(kRcx, own(offsetof(Storage, target)));
    emit_.store(kRcx, {.base = kRsp, .offset = offsetof(PausedCall, next)});
    emit_.store(kRax, {.base = kRsp, .offset = offsetof(PausedCall, number)});
    push_all(kUsed);
    emit_.constant(kRdx, 0);
    set_mask(offsetof(BurstThread, program_mask));
    pop_all(kUsed);
    raw({0x0F, 0x05});
    const uint8_t* behind = emit_.at();
    push_all(kUsed);
    emit_.load_own(kRdx, own(offsetof(Storage, thread)));
    emit_.address(kRdx, word_of(kRdx, offsetof(BurstThread, program_mask)));
    set_mask(offsetof(BurstThread, burst_mask));
    pop_all(kUsed);
    emit_.load(kRcx, {.base = kRsp, .offset = offsetof(PausedCall, next)});  // as natively
    emit_.store_own(kRcx, own(offsetof(Storage, target)));
    emit_.store_own(own(offsetof(Storage, exit)), UINT32_MAX);
    emit_.address(kRsp, {.base = kRsp, .offset = kShift});
    emit_.jump(dispatch);
    return behind;
  }
  void push_all(std::span<const Register> all) {
    for (const Register number : all) one_byte(0x50, number);
  }
  void pop_all(std::span<const Register> pushed) {
    for (auto number = pushed.rbegin(); number != pushed.rend(); ++number) one_byte(0x58, *number);
  }
  void one_byte(uint8_t operation, Register number) {
    if (number >= kR8) emit_.byte(0x41);
    emit_.byte(uint8_t(operation | (number & 7)));
  }

  // Looks the target up by its lower 16 bits. The difference of two addresses is computed without
  // flags: a + ~b + 1.
  void make_indirect(const uint8_t* dispatch) {
    static_assert(BlockCache::kTargetBits == 16);
    const int32_t third = own(offsetof(Storage, third));
    const int32_t base = own(offsetof(Storage, base)), scratch = own(offsetof(Storage, scratch));
    emit_.store_own(kRax, base);
    emit_.store_own(kRcx, third);
    emit_.store_own(kRdx, scratch);
    emit_.load_own(kRcx, own(offsetof(Storage, target)));
    raw({0x0F, 0xB7, 0xC1});  // movzx eax, cx
    emit_.constant(kRdx, reinterpret_cast<uint64_t>(cache_.targets()));
    emit_.load(kRdx, {.base = kRdx, .index = kRax, .scale = 8});
    emit_.load(kRax, word_of(kRdx, offsetof(Block, source)));
    raw({0x48, 0xF7, 0xD0});  // not rax
    emit_.address(kRcx, {.base = kRcx, .index = kRax, .offset = 1});
    uint8_t* found = emit_.jump_if_rcx_is_0();
    uint8_t* slow = emit_.at();
    emit_.load_own(kRax, base);
    emit_.load_own(kRcx, third);
    emit_.load_own(kRdx, scratch);
    emit_.store_own(own(offsetof(Storage, exit)), UINT32_MAX);
    emit_.jump(dispatch);

    emit_.patch_short(found);
    emit_.load_own_byte_into_ecx(own(offsetof(Storage, cursor)) + Storage::kFullByte);
    uint8_t* full = emit_.jump_if_rcx_is_0();
    full[-1] = uint8_t(slow - full);
    emit_.load(kRax, word_of(kRdx, offsetof(Block, code)));
    emit_.store_own(kRax, own(offsetof(Storage, jump)));
    emit_.load_own(kRax, base);
    emit_.load_own(kRcx, third);
    emit_.load_own(kRdx, scratch);
    emit_.jump_to_own(own(offsetof(Storage, jump)));
  }

  void raw(std::initializer_list<uint8_t> bytes) {
    for (const uint8_t byte : bytes) emit_.byte(byte);
  }

  BlockCache& cache_;
  const int32_t storage_;
  Emitter emit_;
};

}  // namespace

Stubs make_stubs(BlockCache& cache, int32_t storage, Next (*dispatch)(BurstThread&)) {
  return Maker(cache, storage).make(dispatch);
}

}  // namespace halo::native
