// Code in bursts does what it does natively, and its accesses are recorded.
#include "recorder/native/burst/bursts.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "burst_fixture.h"

namespace halo::native {
namespace {

using BurstsTest = BurstFixture;

[[gnu::noinline, gnu::optimize("no-tree-vectorize")]] int64_t sum(const int64_t* values,
                                                                  size_t count) {
  int64_t total = 0;
  for (size_t at = 0; at < count; ++at) {
    total += values[at];
    asm volatile("" : "+r"(total));
  }
  return total;
}

TEST_F(BurstsTest, EachAccessOfALoopIsRecorded) {
  std::vector<int64_t> values(1000);
  std::iota(values.begin(), values.end(), 1);
  begin();
  const int64_t total = sum(values.data(), values.size());
  const auto found = within(values.data(), values.size() * sizeof(int64_t));
  EXPECT_EQ(total, 500500);
  ASSERT_EQ(found.size(), values.size());
  for (size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(found[at].address, reinterpret_cast<uint64_t>(&values[at]));
    EXPECT_EQ(found[at].operand->size, 8);
    EXPECT_TRUE(found[at].operand->load);
    EXPECT_FALSE(found[at].operand->store);
    EXPECT_EQ(found[at].code, found[0].code);
  }
}

TEST_F(BurstsTest, ABurstEndsAfterItsWords) {
  std::vector<int64_t> values(100000);
  begin(1000);
  sum(values.data(), values.size());
  EXPECT_FALSE(Bursts::is_active());
  const auto found = within(values.data(), values.size() * sizeof(int64_t));
  EXPECT_GT(found.size(), 300u);
  EXPECT_LT(found.size(), 1000u);
}

[[gnu::noinline]] uint64_t recursive(uint64_t n) {
  return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

TEST_F(BurstsTest, CallsReturn) {
  begin();
  const uint64_t found = recursive(20);
  EXPECT_EQ(found, 6765u);
}

TEST_F(BurstsTest, CallsThroughPointersReturn) {
  int order = 0;
  const auto descending = [](const void* one, const void* other) {
    return *static_cast<const int*>(other) - *static_cast<const int*>(one);
  };
  std::vector<int> numbers(500);
  std::iota(numbers.begin(), numbers.end(), 0);
  begin();
  qsort(numbers.data(), numbers.size(), sizeof(int), descending);
  for (size_t at = 1; at < numbers.size(); ++at) order += numbers[at - 1] > numbers[at];
  EXPECT_EQ(order, 499);
}

TEST_F(BurstsTest, ExceptionsAreCaught) {
  int caught = 0;
  for (int turn = 0; turn < 10; ++turn) {
    begin();
    try {
      if (turn >= 0) throw turn;
    } catch (int value) {
      caught += value;
    }
  }
  EXPECT_EQ(caught, 45);
}

TEST_F(BurstsTest, LongJumpsArrive) {
  jmp_buf place;
  volatile int turns = 0;
  begin();
  if (_setjmp(place) < 5) {
    turns = turns + 1;
    longjmp(place, turns);
  }
  EXPECT_EQ(turns, 5);
}

TEST_F(BurstsTest, StringInstructionsAreRecordedIfTheyDoAnything) {
  std::vector<char> from(1000, 'x'), to(1000);
  begin();
  size_t count = from.size();
  const char* source = from.data();
  char* target = to.data();
  asm volatile("rep movsb" : "+c"(count), "+S"(source), "+D"(target) : : "memory");
  asm volatile("rep movsb" : "+c"(count), "+S"(source), "+D"(target) : : "memory");
  const auto loads = within(from.data(), from.size());
  const auto stores = within(to.data(), to.size());
  EXPECT_EQ(from, to);
  EXPECT_EQ(loads.size(), 1u);
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_TRUE(stores[0].operand->store);
}

TEST_F(BurstsTest, VectorsAndRoundingModesAreThoseOfTheProcessor) {
  alignas(32) double values[4] = {1, 2, 3, 4};
  uint32_t before, during, up = 0x5F80, after;
  asm volatile("stmxcsr %0" : "=m"(before));
  asm volatile("ldmxcsr %0" : : "m"(up));
  begin();
  asm volatile("stmxcsr %0" : "=m"(during));
  asm volatile("movapd %0, %%xmm15\n\taddpd %0, %%xmm15\n\tmovapd %%xmm15, %0"
               : "+m"(values)
               :
               : "xmm15");
  const auto found = within(values, sizeof values);
  asm volatile("stmxcsr %0" : "=m"(after));
  asm volatile("ldmxcsr %0" : : "m"(before));
  EXPECT_EQ(during & 0xFFC0, up & 0xFFC0);
  EXPECT_EQ(after & 0xFFC0, up & 0xFFC0);
  EXPECT_EQ(values[1], 4);
}

TEST_F(BurstsTest, RequiredAlignmentIsRecorded) {
  alignas(16) static double values[2] = {1, 2};
  double* at = values;
  begin();
  asm volatile("movapd (%0), %%xmm15" : : "r"(at) : "xmm15");
  const auto found = within(values, sizeof values);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].operand->alignment_class, 1);
}

TEST_F(BurstsTest, FlagsSurvive) {
  begin();
  uint64_t carry = 0, flags = 0;
  asm volatile(
      "stc\n\t"
      "jmp 1f\n\t"
      "1: mov $0, %0\n\t"
      "jmp 2f\n\t"
      "2: adc $5, %0\n\t"
      "std\n\t"
      "jmp 3f\n\t"
      "3: pushfq\n\t"
      "pop %1\n\t"
      "cld"
      : "=&r"(carry), "=r"(flags)
      :
      : "cc", "memory");
  EXPECT_EQ(carry, 6u);
  EXPECT_NE(flags & 0x400, 0u);
}

// Sums fourteen words, with each of them in a register of its own.
extern "C" uint64_t halo_test_sum(const uint64_t* values);
asm(R"(
  .text
  .globl halo_test_sum
  .hidden halo_test_sum
halo_test_sum:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rdi, %rbp
  mov 0(%rbp), %rax
  mov 8(%rbp), %rcx
  mov 16(%rbp), %rdx
  mov 24(%rbp), %rbx
  mov 32(%rbp), %rsi
  mov 40(%rbp), %rdi
  mov 48(%rbp), %r8
  mov 56(%rbp), %r9
  mov 64(%rbp), %r10
  mov 72(%rbp), %r11
  mov 80(%rbp), %r12
  mov 88(%rbp), %r13
  mov 96(%rbp), %r14
  mov 104(%rbp), %r15
  add %rcx, %rax
  add %rdx, %rax
  add %rbx, %rax
  add %rsi, %rax
  add %rdi, %rax
  add %r8, %rax
  add %r9, %rax
  add %r10, %rax
  add %r11, %rax
  add %r12, %rax
  add %r13, %rax
  add %r14, %rax
  add %r15, %rax
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");

TEST_F(BurstsTest, AllRegistersMayBeInUse) {
  std::vector<uint64_t> values(14, 3);
  begin();
  const uint64_t total = halo_test_sum(values.data());
  const auto found = within(values.data(), values.size() * sizeof(uint64_t));
  EXPECT_EQ(total, 42u);
  EXPECT_EQ(found.size(), 14u);
}

TEST_F(BurstsTest, JumpsByTheCounterAreFollowed) {
  uint64_t turns = 0, counter = 10;
  begin();
  asm volatile(
      "1: jrcxz 2f\n\t"
      "inc %0\n\t"
      "dec %%rcx\n\t"
      "jmp 1b\n\t"
      "2:"
      : "+r"(turns), "+c"(counter)
      :
      : "cc");
  EXPECT_EQ(turns, 10u);
}

sigjmp_buf rescue;
uint64_t fault_code, fault_registers[2];

void on_fault(int, siginfo_t*, void* context) {
  const greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  bursts.leave_at_fault(*static_cast<ucontext_t*>(context));
  fault_code = uint64_t(registers[REG_RIP]);
  fault_registers[0] = uint64_t(registers[REG_R12]);
  fault_registers[1] = uint64_t(registers[REG_RCX]);
  siglongjmp(rescue, 1);
}

extern "C" const char halo_test_fault[];

TEST_F(BurstsTest, HandlersOfFaultsSeeTheProgramsState) {
  struct sigaction action{}, before{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  if (sigsetjmp(rescue, 1) == 0) {
    begin();
    asm volatile(
        "mov $0x1234, %%r12\n\t"
        "mov $0x5678, %%ecx\n\t"
        "jmp 1f\n\t"
        "1: xor %%eax, %%eax\n\t"
        ".globl halo_test_fault\n\t"
        "halo_test_fault:\n\t"
        "mov (%%rax), %%rax"
        :
        :
        : "r12", "rcx", "rax", "memory", "cc");
  }
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(fault_code, reinterpret_cast<uint64_t>(halo_test_fault));
  EXPECT_EQ(fault_registers[0], 0x1234u);
  EXPECT_EQ(fault_registers[1], 0x5678u);
  EXPECT_FALSE(Bursts::is_active());
  EXPECT_EQ(bursts_ended, 1);
}

TEST_F(BurstsTest, SignalsWaitForTheEndOfABurst) {
  static volatile int calls;
  calls = 0;
  signal(SIGUSR1, [](int) {
    EXPECT_FALSE(Bursts::is_active());
    calls = calls + 1;
  });
  begin();
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(calls, 1);
  signal(SIGUSR1, SIG_DFL);
}

TEST_F(BurstsTest, TheSignalMaskIsTheProgramsAfterwards) {
  sigset_t before, after;
  sigemptyset(&before);
  sigaddset(&before, SIGHUP);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  begin();
  sigprocmask(SIG_SETMASK, nullptr, &after);
  EXPECT_TRUE(sigismember(&after, SIGHUP));
  EXPECT_FALSE(sigismember(&after, SIGUSR1));
  sigemptyset(&before);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(BurstsTest, ThreadsHaveBurstsAtTheSameTime) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&right] {
      for (int turn = 0; turn < 200; ++turn) {
        begin();
        right += recursive(12) == 144;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 800);
}

TEST_F(BurstsTest, CodeIsTranslatedAgainAfterItWasForgotten) {
  for (int turn = 0; turn < 3; ++turn) {
    getppid();
    bursts.forget();
    begin();
    EXPECT_EQ(recursive(10), 55u);
  }
}

TEST_F(BurstsTest, CodeThatIsNotOfAFileRunsNatively) {
  constexpr uint8_t kCode[] = {0xB8, 42, 0, 0, 0, 0xC3};  // mov eax, 42; ret
  void* page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, kCode, sizeof kCode);
  begin();
  EXPECT_EQ(reinterpret_cast<int (*)()>(page)(), 42);
  static_cast<uint8_t*>(page)[1] = 43;
  begin();
  EXPECT_EQ(reinterpret_cast<int (*)()>(page)(), 43);
  munmap(page, 4096);
}

TEST_F(BurstsTest, CallsThatDoNotWaitAreMadeInABurst) {
  constexpr size_t kPage = 4096;
  void* page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  begin();
  const int made = mprotect(page, kPage, PROT_READ | PROT_WRITE);
  const bool is_active_behind_protecting = Bursts::is_active();
  *static_cast<volatile int*>(page) = 1;
  prctl(PR_SET_NAME, "in a burst");
  const bool is_active_behind_naming = Bursts::is_active();
  const auto found = within(page, kPage);
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(is_active_behind_protecting);
  EXPECT_TRUE(is_active_behind_naming);
  EXPECT_EQ(found.size(), 1u);
  munmap(page, kPage);
}

TEST_F(BurstsTest, MemoryThatBecomesCodeEndsABurst) {
  constexpr size_t kPage = 4096;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  begin();
  const int made = mprotect(page, kPage, PROT_READ | PROT_EXEC);
  EXPECT_FALSE(Bursts::is_active());
  EXPECT_EQ(made, 0);
  munmap(page, kPage);
}

TEST_F(BurstsTest, ChangedProtectionOfAModuleEndsABurst) {
  constexpr size_t kPage = 4096;
  alignas(kPage) static char data[kPage];
  begin();
  const int made = mprotect(data, kPage, PROT_READ | PROT_WRITE);
  EXPECT_FALSE(Bursts::is_active());
  EXPECT_EQ(made, 0);
}

}  // namespace
}  // namespace halo::native
