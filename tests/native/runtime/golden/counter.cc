// Counts executed instructions between two markers inside one range of code, of a program that it
// executes one instruction at a time.
//
// golden-counter OUT PROGRAM ARGUMENTS...
//
// At the end it writes to OUT a line for each path and each of its costs: path, number of runs,
// instructions, loads, stores, branches. Its exit status is the program's.
#include <Zydis/Zydis.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <compare>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "runtime/golden/markers.h"

namespace {

using halo::golden::kPathCount;
using halo::golden::kPathNames;
using halo::golden::Marker;

struct Cost {
  uint64_t instructions, loads, stores, branches;
  auto operator<=>(const Cost&) const = default;
};

struct Instruction {
  bool is_system_call;
  Cost cost;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

using Bytes = std::array<uint8_t, ZYDIS_MAX_INSTRUCTION_LENGTH>;

bool accesses_memory(const ZydisDecodedInstruction& instruction,
                     const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
         instruction.meta.category != ZYDIS_CATEGORY_PREFETCH &&
         instruction.meta.category != ZYDIS_CATEGORY_WIDENOP;
}

// Of the first instruction in the bytes: accesses have at most 8 bytes each.
Instruction instruction_of(const Bytes& bytes) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction decoded;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &decoded,
                                           operands.data()))) {
    std::fputs("golden-counter: an unknown instruction\n", stderr);
    std::exit(1);
  }
  Cost cost{.instructions = 1, .loads = 0, .stores = 0, .branches = 0};
  for (unsigned i = 0; i < decoded.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (!accesses_memory(decoded, operand)) continue;
    const uint64_t accesses = (operand.size + 63u) / 64;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) cost.loads += accesses;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) cost.stores += accesses;
  }
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
      cost.branches = 1;
      break;
    default:
      break;
  }
  return {decoded.mnemonic == ZYDIS_MNEMONIC_SYSCALL, cost};
}

// The program, which has one thread.
class Program {
 public:
  explicit Program(pid_t process) : process_(process) {}

  // Returns its exit status.
  int run() {
    int status = wait();
    ptrace(PTRACE_SETOPTIONS, process_, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (WIFSTOPPED(status)) {
      int signal = WSTOPSIG(status);
      const bool is_call = signal == (SIGTRAP | kOfSystemCall);
      if (is_call || signal == SIGTRAP) signal = 0;
      const bool begins_call = is_call && enters_call();
      const bool steps = counting_ && !begins_call && count_next();
      ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, process_, 0, signal);
      status = wait();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }

  void write(const char* out) const {
    std::FILE* file = std::fopen(out, "w");
    if (file == nullptr) fail(out);
    for (size_t i = 0; i < kPathCount; ++i)
      for (const auto& [each, times] : taken_[i])
        std::fprintf(file, "%s %lu %lu %lu %lu %lu\n", kPathNames[i], times, each.instructions,
                     each.loads, each.stores, each.branches);
    std::fclose(file);
  }

 private:
  static constexpr int kOfSystemCall = 0x80;  // PTRACE_O_TRACESYSGOOD

  int wait() const {
    int status = 0;
    if (waitpid(process_, &status, 0) != process_) fail("waitpid");
    return status;
  }

  // Whether the program enters a system call, and does not leave one. Takes markers.
  bool enters_call() {
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, process_, sizeof info, &info) <= 0) fail("ptrace");
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    if (info.entry.nr == halo::golden::kMarkerCall)
      take(static_cast<Marker>(info.entry.args[0]), info.entry.args[1], info.entry.args[2]);
    return true;
  }

  void take(Marker marker, uint64_t a, uint64_t b) {
    switch (marker) {
      case Marker::kText:
        text_begin_ = a;
        text_end_ = b;
        return;
      case Marker::kBegin:
        path_ = a;
        cost_ = {};
        counting_ = path_ < kPathCount;
        return;
      case Marker::kEnd:
        if (counting_) ++taken_[path_][cost_];
        counting_ = false;
        return;
    }
  }

  // Counts the next instruction. Returns false if it is a system call.
  bool count_next() {
    user_regs_struct registers{};
    if (ptrace(PTRACE_GETREGS, process_, 0, &registers) != 0) fail("ptrace");
    const Instruction& next = instruction_at(registers.rip);
    if (registers.rip >= text_begin_ && registers.rip < text_end_) {
      cost_.instructions += next.cost.instructions;
      cost_.loads += next.cost.loads;
      cost_.stores += next.cost.stores;
      cost_.branches += next.cost.branches;
    }
    return !next.is_system_call;
  }

  const Instruction& instruction_at(uint64_t address) {
    const auto [entry, is_new] = known_.try_emplace(address);
    if (is_new) entry->second = read_instruction(address);
    return entry->second;
  }

  // At the end of a mapping there may be fewer bytes than the longest instruction has.
  Instruction read_instruction(uint64_t address) const {
    Bytes bytes{};
    constexpr uint64_t kPage = 4096;
    const uint64_t first = std::min<uint64_t>(bytes.size(), kPage - address % kPage);
    const iovec to{bytes.data(), bytes.size()};
    const std::array<iovec, 2> from{
        iovec{reinterpret_cast<void*>(address), first},
        iovec{reinterpret_cast<void*>(address + first), bytes.size() - first}};
    if (process_vm_readv(process_, &to, 1, from.data(), from.size(), 0) <= 0)
      fail("process_vm_readv");
    return instruction_of(bytes);
  }

  const pid_t process_;
  uint64_t text_begin_ = 0, text_end_ = 0;
  bool counting_ = false;
  uint64_t path_ = 0;
  Cost cost_{};
  std::array<std::map<Cost, uint64_t>, kPathCount> taken_;
  std::unordered_map<uint64_t, Instruction> known_;  // by address
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: golden-counter OUT PROGRAM ARGUMENTS...\n", stderr);
    return 2;
  }
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME) != 0) fail("ptrace");
    execvp(argv[2], argv + 2);
    fail(argv[2]);
  }
  Program program(child);
  const int status = program.run();
  program.write(argv[1]);
  return status;
}
