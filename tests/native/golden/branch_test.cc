// Encodings as the assembler gives them.
#include "golden/branch.h"

#include <gtest/gtest.h>

#include <vector>

namespace halo::golden {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Branches, AreJumpsCallsAndReturns) {
  for (const Bytes& code : {
           Bytes{0x74, 0x10},                                // je
           Bytes{0x0F, 0x85, 0x00, 0x01, 0x00, 0x00},        // jne
           Bytes{0xEB, 0xFE},                                // jmp
           Bytes{0xE9, 0x00, 0x01, 0x00, 0x00},              // jmp
           Bytes{0xE8, 0x00, 0x01, 0x00, 0x00},              // call
           Bytes{0xFF, 0xE0},                                // jmp *%rax
           Bytes{0x41, 0xFF, 0xE3},                          // jmp *%r11
           Bytes{0xF2, 0xFF, 0x25, 0x00, 0x20, 0x00, 0x00},  // bnd jmp *0x2000(%rip)
           Bytes{0x3E, 0xFF, 0xE0},                          // notrack jmp *%rax
           Bytes{0xFF, 0x15, 0x00, 0x20, 0x00, 0x00},        // call *0x2000(%rip)
           Bytes{0x41, 0xFF, 0x54, 0x24, 0x08},              // call *8(%r12)
           Bytes{0xC3},                                      // ret
           Bytes{0xF3, 0xC3},                                // rep ret
           Bytes{0xE3, 0x04},                                // jrcxz
       })
    EXPECT_TRUE(is_branch(code)) << ::testing::PrintToString(code);
}

TEST(Branches, AreNothingElse) {
  for (const Bytes& code : {
           Bytes{}, Bytes{0x48, 0x89, 0xE6},                 // mov %rsp,%rsi
           Bytes{0x48, 0x8B, 0x05, 0x00, 0x20, 0x00, 0x00},  // mov 0x2000(%rip),%rax
           Bytes{0x0F, 0x1F, 0x40, 0x00},                    // nopl 0(%rax)
           Bytes{0xF3, 0x0F, 0x1E, 0xFA},                    // endbr64
           Bytes{0x0F, 0x94, 0xC0},                          // sete %al
           Bytes{0x48, 0x0F, 0x44, 0xC1},                    // cmove %rcx,%rax
           Bytes{0xFF, 0x00},                                // incl (%rax)
           Bytes{0xFF, 0x35, 0x00, 0x20, 0x00, 0x00},        // push 0x2000(%rip)
           Bytes{0x0F, 0xA3, 0xC8},                          // bt %ecx,%eax
       })
    EXPECT_FALSE(is_branch(code)) << ::testing::PrintToString(code);
}

}  // namespace
}  // namespace halo::golden
