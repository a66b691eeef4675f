// An assembler for one function.
#include "runtime/extra/redirect/thunks.h"

#include <cstring>
#include <initializer_list>

#include "runtime/extra/redirect/active_sites.h"

namespace halo::runtime {
namespace {

class Code {
 public:
  Code(uint8_t* memory, uintptr_t address) : begin_(memory), address_(address) {}

  void bytes(std::initializer_list<uint8_t> code) {
    for (const uint8_t byte : code) begin_[at_++] = byte;
  }
  void word(int32_t value) {
    std::memcpy(begin_ + at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void bytes_word(std::initializer_list<uint8_t> code, int32_t value) {
    bytes(code);
    word(value);
  }
  // Emits a jump with a displacement of four bytes; returns its position for `land`.
  size_t jump(std::initializer_list<uint8_t> opcode) {
    bytes_word(opcode, 0);
    return at_;
  }
  void land(size_t jump) { patch(jump, static_cast<int64_t>(at_ - jump)); }
  void jump_back(size_t to) {
    const size_t from = jump({0xE9});
    patch(from, static_cast<int64_t>(to) - static_cast<int64_t>(from));
  }
  // Returns false if the target is out of reach.
  bool jump_out(uintptr_t target) {
    const size_t from = jump({0xE9});
    return patch(from, static_cast<int64_t>(target - (address_ + from)));
  }
  size_t here() const { return at_; }

 private:
  bool patch(size_t jump, int64_t distance) {
    const auto narrow = static_cast<int32_t>(distance);
    std::memcpy(begin_ + jump - sizeof narrow, &narrow, sizeof narrow);
    return narrow == distance;
  }

  uint8_t* begin_;
  uintptr_t address_;
  size_t at_ = 0;
};

}  // namespace

bool write_thunk(const Thunk& thunk, uint8_t* memory, uintptr_t address) {
  const auto slot =
      static_cast<int32_t>(offsetof(ActiveSites, sites) + thunk.site * sizeof(ActiveSite));
  const auto caller = static_cast<int32_t>(slot + offsetof(ActiveSite, caller));
  const auto step = static_cast<int32_t>(thunk.step);
  Code code(memory, address);
  const auto load_record = [&] {
    code.bytes_word({0x64, 0x4C, 0x8B, 0x1C, 0x25}, thunk.record_offset);  // mov %fs:…, %r11
  };

  load_record();
  code.bytes({0x4D, 0x85, 0xDB});                               // test %r11, %r11
  const size_t no_record = code.jump({0x0F, 0x84});             // je go
  code.bytes({0x49, 0x39, 0x23});                               // cmp %rsp, low
  const size_t below = code.jump({0x0F, 0x87});                 // ja go
  code.bytes({0x49, 0x39, 0x63, offsetof(ActiveSites, high)});  // cmp %rsp, high
  const size_t above = code.jump({0x0F, 0x86});                 // jbe go
  code.bytes_word({0x49, 0x39, 0xA3}, slot);                    // cmp %rsp, slot
  const size_t maybe = code.jump({0x0F, 0x87});                 // ja maybe
  const size_t set = code.here();
  code.bytes_word({0x49, 0x89, 0xA3}, slot);  // mov %rsp, slot
  if (step != 0) {
    code.bytes_word({0xFF, 0xB4, 0x24}, step);    // push step(%rsp)
    code.bytes_word({0x41, 0x8F, 0x83}, caller);  // pop caller
  }
  const size_t go = code.here();
  code.land(no_record);
  code.land(below);
  code.land(above);
  const bool in_reach = code.jump_out(thunk.target);

  // A call further out is recorded: it stays recorded if it is still active.
  code.land(maybe);
  code.bytes_word({0x4D, 0x8B, 0x9B}, slot);                 // mov slot, %r11
  if (step != 0) code.bytes_word({0x41, 0xFF, 0xB3}, step);  // push step(%r11)
  code.bytes({0x4D, 0x8B, 0x1B});                            // mov (%r11), %r11
  if (step != 0) {
    code.bytes({0x4C, 0x39, 0x5C, 0x24, 0x08});    // cmp %r11, 8(%rsp)
    code.bytes({0x41, 0x5B});                      // pop %r11
    const size_t other = code.jump({0x0F, 0x85});  // jne stale
    code.bytes({0x41, 0x53});                      // push %r11
    load_record();
    code.bytes_word({0x4D, 0x8B, 0x9B}, caller);  // mov caller, %r11
    code.bytes({0x4C, 0x39, 0x1C, 0x24});         // cmp %r11, (%rsp)
    code.bytes({0x48, 0x8D, 0x64, 0x24, 0x08});   // lea 8(%rsp), %rsp
    const size_t same = code.jump({0x0F, 0x85});  // jne stale
    code.jump_back(go);
    code.land(other);
    code.land(same);
  } else {
    code.bytes({0x4C, 0x39, 0x1C, 0x24});          // cmp %r11, (%rsp)
    const size_t other = code.jump({0x0F, 0x85});  // jne stale
    code.jump_back(go);
    code.land(other);
  }
  load_record();
  code.jump_back(set);
  return in_reach;
}

}  // namespace halo::runtime
