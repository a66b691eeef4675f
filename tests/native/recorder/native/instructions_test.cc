// Every instruction that the decoder knows does in a burst what it does natively: registers, flags,
// memory, and faults.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "burst_fixture.h"

namespace halo::native {
namespace {

// Code of a file, which bursts translate; the test writes to it before.
constexpr size_t kCodeBytes = 1 << 20, kSlotBytes = 64;
extern "C" uint8_t halo_test_code[];
// Calls `code` with the registers of a state, and stores them afterwards.
extern "C" void halo_test_call(void* state, const void* code);

asm(R"(
  .text
  .p2align 12
  .globl halo_test_code
  .hidden halo_test_code
halo_test_code:
  .fill 1048576, 1, 0xCC
  .globl halo_test_call
  .hidden halo_test_call
halo_test_call:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  push %rdi
  push %rsi
  mov $-1, %eax
  mov $-1, %edx
  xrstor64 256(%rdi)
  mov 8(%rdi), %rcx
  mov 16(%rdi), %rdx
  mov 24(%rdi), %rbx
  mov 40(%rdi), %rbp
  mov 48(%rdi), %rsi
  mov 64(%rdi), %r8
  mov 72(%rdi), %r9
  mov 80(%rdi), %r10
  mov 88(%rdi), %r11
  mov 96(%rdi), %r12
  mov 104(%rdi), %r13
  mov 112(%rdi), %r14
  mov 120(%rdi), %r15
  push 128(%rdi)
  popfq
  mov 0(%rdi), %rax
  mov 56(%rdi), %rdi
  call *(%rsp)
  push %rdi
  mov 16(%rsp), %rdi
  mov %rax, 0(%rdi)
  pushfq
  pop 128(%rdi)
  cld
  pop 56(%rdi)
  mov %rcx, 8(%rdi)
  mov %rdx, 16(%rdi)
  mov %rbx, 24(%rdi)
  mov %rbp, 40(%rdi)
  mov %rsi, 48(%rdi)
  mov %r8, 64(%rdi)
  mov %r9, 72(%rdi)
  mov %r10, 80(%rdi)
  mov %r11, 88(%rdi)
  mov %r12, 96(%rdi)
  mov %r13, 104(%rdi)
  mov %r14, 112(%rdi)
  mov %r15, 120(%rdi)
  mov $-1, %eax
  mov $-1, %edx
  xsave64 256(%rdi)
  fninit
  pop %rsi
  pop %rdi
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
)");

struct alignas(64) State {
  uint64_t registers[16];
  uint64_t flags;
  uint8_t unused[120];
  uint8_t vectors[12 << 10];
};
static_assert(offsetof(State, vectors) == 256);

struct alignas(4096) Data {
  uint8_t bytes[8192];
};
constexpr size_t kMiddle = 4096;

State initial, natively, in_burst;
Data data, data_before, data_natively;

struct Outcome {
  int signal = 0;
  uint64_t at = 0;  // the instruction pointer of the fault, from the code's begin
  bool operator==(const Outcome&) const = default;
};

sigjmp_buf rescue;
volatile int fault_signal;
volatile uint64_t fault_at;

void on_fault(int number, siginfo_t*, void* context) {
  bursts.leave_at_fault(*static_cast<ucontext_t*>(context));
  fault_signal = number;
  fault_at = uint64_t(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  siglongjmp(rescue, 1);
}

// What cannot be compared, or would end the test itself.
bool is_left_out(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands) {
  static const std::set<ZydisInstructionCategory> categories{
      ZYDIS_CATEGORY_CALL,    ZYDIS_CATEGORY_RET,       ZYDIS_CATEGORY_UNCOND_BR,
      ZYDIS_CATEGORY_COND_BR, ZYDIS_CATEGORY_SYSCALL,   ZYDIS_CATEGORY_INTERRUPT,
      ZYDIS_CATEGORY_SYSRET,  ZYDIS_CATEGORY_SYSTEM,    ZYDIS_CATEGORY_VTX,
      ZYDIS_CATEGORY_SGX,     ZYDIS_CATEGORY_CET,       ZYDIS_CATEGORY_SEGOP,
      ZYDIS_CATEGORY_IO,      ZYDIS_CATEGORY_IOSTRINGOP};
  static const std::set<ZydisMnemonic> mnemonics{
      ZYDIS_MNEMONIC_RDTSC,       ZYDIS_MNEMONIC_RDTSCP,     ZYDIS_MNEMONIC_RDRAND,
      ZYDIS_MNEMONIC_RDSEED,      ZYDIS_MNEMONIC_RDPID,      ZYDIS_MNEMONIC_CPUID,
      ZYDIS_MNEMONIC_XGETBV,      ZYDIS_MNEMONIC_WRFSBASE,   ZYDIS_MNEMONIC_WRGSBASE,
      ZYDIS_MNEMONIC_RDFSBASE,    ZYDIS_MNEMONIC_XBEGIN,     ZYDIS_MNEMONIC_XEND,
      ZYDIS_MNEMONIC_XABORT,      ZYDIS_MNEMONIC_HLT,        ZYDIS_MNEMONIC_XRSTOR,
      ZYDIS_MNEMONIC_XRSTOR64,    ZYDIS_MNEMONIC_XRSTORS,    ZYDIS_MNEMONIC_XRSTORS64,
      ZYDIS_MNEMONIC_FXRSTOR,     ZYDIS_MNEMONIC_FXRSTOR64,  ZYDIS_MNEMONIC_FRSTOR,
      ZYDIS_MNEMONIC_FLDENV,      ZYDIS_MNEMONIC_FNSTENV,    ZYDIS_MNEMONIC_FNSAVE,
      ZYDIS_MNEMONIC_FXSAVE,      ZYDIS_MNEMONIC_FXSAVE64,   ZYDIS_MNEMONIC_XSAVE,
      ZYDIS_MNEMONIC_XSAVE64,     ZYDIS_MNEMONIC_XSAVEC,     ZYDIS_MNEMONIC_XSAVEC64,
      ZYDIS_MNEMONIC_XSAVEOPT,    ZYDIS_MNEMONIC_XSAVEOPT64, ZYDIS_MNEMONIC_LDMXCSR,
      ZYDIS_MNEMONIC_VLDMXCSR,    ZYDIS_MNEMONIC_POPF,       ZYDIS_MNEMONIC_POPFQ,
      ZYDIS_MNEMONIC_TPAUSE,      ZYDIS_MNEMONIC_UMWAIT,     ZYDIS_MNEMONIC_UMONITOR,
      ZYDIS_MNEMONIC_MWAIT,       ZYDIS_MNEMONIC_MONITOR,    ZYDIS_MNEMONIC_SERIALIZE,
      ZYDIS_MNEMONIC_TILERELEASE, ZYDIS_MNEMONIC_LDTILECFG};
  if (categories.contains(decoded.meta.category) || mnemonics.contains(decoded.mnemonic))
    return true;
  for (int at = 0; at < decoded.operand_count; ++at) {
    const ZydisDecodedOperand& operand = operands[at];
    const ZydisRegister used =
        operand.type == ZYDIS_OPERAND_TYPE_MEMORY ? operand.mem.base : operand.reg.value;
    const bool is_stack =
        operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, used) == ZYDIS_REGISTER_RSP;
    if (is_stack && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) return true;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ZydisRegisterGetClass(operand.reg.value) == ZYDIS_REGCLASS_SEGMENT)
      return true;
  }
  return false;
}

using Bytes = std::vector<uint8_t>;

// Instructions of all maps of operation codes, each with operands in a register, at an address in a
// register, and relative to the instruction pointer.
template <class Take>
void for_each_form(Take take) {
  const std::array<Bytes, 4> operands{Bytes{0xC1}, Bytes{0x43, 0x08}, Bytes{0x84, 0x4B, 8, 0, 0, 0},
                                      Bytes{0x0D, 0, 0, 0, 0}};
  const auto add = [&](Bytes begin) {
    for (const Bytes& operand : operands) {
      for (int field = 0; field < 8; ++field) {
        Bytes form = begin;
        form.insert(form.end(), operand.begin(), operand.end());
        form[begin.size()] = uint8_t((form[begin.size()] & 0xC7) | field << 3);
        take(form);
      }
    }
  };
  const std::array<Bytes, 4> prefixes{Bytes{}, Bytes{0x66}, Bytes{0xF2}, Bytes{0xF3}};
  const std::array<Bytes, 4> extensions{Bytes{}, Bytes{0x48}, Bytes{0x44}, Bytes{0x41}};
  const std::array<Bytes, 4> maps{Bytes{}, Bytes{0x0F}, Bytes{0x0F, 0x38}, Bytes{0x0F, 0x3A}};
  for (int operation = 0; operation < 256; ++operation) {
    const auto last = uint8_t(operation);
    for (const Bytes& prefix : prefixes) {
      for (const Bytes& extension : extensions) {
        for (const Bytes& map : maps) {
          Bytes begin = prefix;
          begin.insert(begin.end(), extension.begin(), extension.end());
          begin.insert(begin.end(), map.begin(), map.end());
          begin.push_back(last);
          add(begin);
        }
      }
    }
    for (int map = 1; map <= 3; ++map)
      for (int low = 0; low < 8; ++low)  // length and prefix
        for (const int wide : {0, 0x80})
          add({0xC4, uint8_t(0xE0 | map), uint8_t(wide | 0x78 | low), last});
    for (const int map : {1, 2, 3, 5, 6})
      for (int prefix = 0; prefix < 4; ++prefix)
        for (const int wide : {0, 0x80})
          for (const int length : {0x08, 0x29, 0x4A})  // also with masks
            add({0x62, uint8_t(0xF0 | map), uint8_t(wide | 0x7C | prefix), uint8_t(length), last});
  }
}

class Instructions : public BurstFixture {
 protected:
  static void SetUpTestSuite() {
    BurstFixture::SetUpTestSuite();
    ASSERT_EQ(mprotect(halo_test_code, kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    initial.flags = 0x246;
    for (int number = 0; number < 16; ++number)
      initial.registers[number] = 0x0102030405060700 * uint64_t(number + 1) + uint64_t(number);
    uint8_t* middle = data.bytes + kMiddle;
    for (const int pointer : {3, 6, 7})
      initial.registers[pointer] = reinterpret_cast<uint64_t>(middle);
    initial.registers[1] = 2;  // rcx: also an index, and a count
    for (size_t at = 0; at < sizeof data.bytes; ++at) data_before.bytes[at] = uint8_t(at * 7 + 1);
    asm volatile("xsave64 (%0)"
                 :
                 : "r"(initial.vectors), "a"(UINT32_MAX), "d"(UINT32_MAX)
                 : "memory");
    for (size_t at = 160; at < 160 + 256; ++at) initial.vectors[at] = uint8_t(at);  // xmm
    constexpr uint64_t kVectors = 6;
    auto* saved = reinterpret_cast<uint64_t*>(initial.vectors + 512);
    saved[0] |= kVectors;
    // An upper half for ymm0 as well, where there are any.
    for (size_t at = 576; at < 576 + 256; ++at) initial.vectors[at] = uint8_t(at * 3);
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
      struct sigaction action{};
      action.sa_sigaction = on_fault;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigaction(number, &action, &before_[number]);
    }
  }
  static void TearDownTestSuite() {
    for (const auto& [number, action] : before_) sigaction(number, &action, nullptr);
  }

  static Outcome run(const uint8_t* code, State& state, bool burst) {
    memcpy(&data, &data_before, sizeof data);
    memcpy(&state, &initial, sizeof state);
    fault_signal = 0;
    fault_at = 0;
    if (sigsetjmp(rescue, 1) == 0) {
      if (burst) begin();
      halo_test_call(&state, code);
    } else {
      asm volatile("cld\n\tfninit");
      return {fault_signal, fault_at - reinterpret_cast<uint64_t>(code)};
    }
    return {};
  }

  // The address of an x87 instruction is part of the state.
  static bool are_equal(const State& one, const State& other) {
    constexpr size_t kOperation = 6, kPointersEnd = 24;
    return memcmp(one.registers, other.registers, sizeof one.registers) == 0 &&
           one.flags == other.flags && memcmp(one.vectors, other.vectors, kOperation) == 0 &&
           memcmp(one.vectors + kPointersEnd, other.vectors + kPointersEnd,
                  sizeof one.vectors - kPointersEnd) == 0;
  }

  static inline std::map<int, struct sigaction> before_;
};

std::string text_of(const Bytes& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    char part[4];
    snprintf(part, sizeof part, "%02x ", byte);
    text += part;
  }
  return text;
}

TEST_F(Instructions, DoTheSameInABurst) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  recorded = nullptr;
  size_t used = 0;
  int compared = 0, stayed = 0, different = 0;
  std::set<ZydisMnemonic> seen;
  std::set<uint64_t> known;  // forms that were compared, by mnemonic, encoding and kind of operands
  for_each_form([&](const Bytes& form) {
    Bytes padded = form;
    padded.resize(form.size() + 10, 0);
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, padded.data(), padded.size(), &decoded, operands)))
      return;
    if (decoded.length < form.size() || is_left_out(decoded, operands)) return;
    uint64_t kind = uint64_t(decoded.mnemonic) << 32 | uint64_t(decoded.encoding) << 24 |
                    uint64_t(decoded.operand_width / 8) << 8;
    for (int at = 0; at < decoded.operand_count; ++at)
      kind = kind * 31 + uint64_t(operands[at].type) * 7 + operands[at].size +
             uint64_t(operands[at].type == ZYDIS_OPERAND_TYPE_MEMORY ? operands[at].mem.base : 0);
    if (!known.insert(kind).second) return;
    if (used + kSlotBytes > kCodeBytes) {
      getppid();
      bursts.forget();
      used = 0;
    }
    uint8_t* code = halo_test_code + used;
    used += kSlotBytes;
    memcpy(code, padded.data(), decoded.length);
    code[decoded.length] = 0xC3;
    // Relative to the instruction pointer: the middle of the data.
    if (decoded.raw.disp.size == 32 && (decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0) {
      const auto offset = int32_t(data.bytes + kMiddle - (code + decoded.length));
      memcpy(code + decoded.raw.disp.offset, &offset, sizeof offset);
    }
    const Outcome expected = run(code, natively, false);
    memcpy(&data_natively, &data, sizeof data);
    const Outcome found = run(code, in_burst, true);
    stayed += Bursts::is_active() || found.signal != 0;
    getppid();
    ++compared;
    seen.insert(decoded.mnemonic);
    const bool is_same = found == expected && are_equal(natively, in_burst) &&
                         memcmp(&data, &data_natively, sizeof data) == 0;
    if (!is_same && ++different <= 20)
      ADD_FAILURE() << ZydisMnemonicGetString(decoded.mnemonic) << ": " << text_of(padded)
                    << " ends by signal " << found.signal << " at " << found.at
                    << ", and natively by " << expected.signal << " at " << expected.at;
  });
  EXPECT_EQ(different, 0);
  EXPECT_GT(seen.size(), 1000u);
  EXPECT_GT(stayed, compared * 9 / 10);
  RecordProperty("compared", compared);
  printf("%d forms of %zu instructions, %d in bursts\n", compared, seen.size(), stayed);
}

}  // namespace
}  // namespace halo::native
