// Decodes by Zydis, and emits.
#include "recorder/native/burst/translator.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/x86/instruction.h"
#include "recorder/native/burst/sequences.h"
#include "recorder/native/burst/storage.h"

namespace halo::native {

namespace {

constexpr uint16_t bit(int number) { return uint16_t(1u << number); }
// Registers whose numbers need no extension, and no other form of operand: rax to rdi but rsp, rbp.
constexpr uint16_t kPlain = bit(kRax) | bit(kRcx) | bit(kRdx) | bit(kRbx) | bit(kRsi) | bit(kRdi);
constexpr uint64_t kMaxInstructionBytes = 15;

struct Decoded {
  uint64_t at;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  uint64_t next() const { return at + instruction.length; }
  std::span<const ZydisDecodedOperand> all() const { return {operands, instruction.operand_count}; }
  bool is(ZydisMnemonic mnemonic) const { return instruction.mnemonic == mnemonic; }
  ZydisInstructionCategory category() const { return instruction.meta.category; }
};

Register number_of(ZydisRegister name) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return kNoRegister;
  return Register(whole - ZYDIS_REGISTER_RAX);
}

uint16_t registers_of(const Decoded& decoded) {
  unsigned used = 0;
  const auto add = [&used](ZydisRegister name) {
    const Register number = number_of(name);
    if (number >= 0) used |= bit(number);
  };
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add(operand.reg.value);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    add(operand.mem.base);
    add(operand.mem.index);
  }
  return uint16_t(used);
}

bool is_rip_relative(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
}

bool is_of_thread(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
         (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS);
}

bool is_jump(const Decoded& decoded) {
  switch (decoded.category()) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
      return true;
    default:
      return false;
  }
}

// Whether it must not be executed at another place, or changes what bursts rely on.
bool must_stay(const Decoded& decoded) {
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_RDPID:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDSSPQ:
    case ZYDIS_MNEMONIC_RDSSPD:
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_ENDBR32:
      return false;
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
      return true;
    default:
      break;
  }
  switch (decoded.category()) {
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
      return true;
    default:
      break;
  }
  const bool is_short = decoded.instruction.address_width != 64;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (is_rip_relative(operand) && (is_short || is_of_thread(operand))) return true;
    if (is_jump(decoded) && is_of_thread(operand)) return true;
  }
  if (!is_jump(decoded)) return false;
  return decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
         (decoded.instruction.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0;
}

bool is_repeated(const Decoded& decoded) {
  constexpr ZydisInstructionAttributes kRepeats =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  return (decoded.instruction.attributes & kRepeats) != 0;
}

// Whether the operand's address is recorded: not on the stack, of the thread, or of several parts.
bool is_recorded(const Decoded& decoded, const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM)
    return false;
  if (is_of_thread(operand) || decoded.instruction.address_width != 64) return false;
  if (operand.mem.base == ZYDIS_REGISTER_RSP || is_rip_relative(operand)) return false;
  if (operand.mem.base == ZYDIS_REGISTER_NONE && operand.mem.index == ZYDIS_REGISTER_NONE)
    return false;
  if (operand.mem.index != ZYDIS_REGISTER_NONE && number_of(operand.mem.index) < 0) return false;
  if (is_jump(decoded) && operand.visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT) return false;
  return !decoded.is(ZYDIS_MNEMONIC_XLAT) && !decoded.is(ZYDIS_MNEMONIC_NOP) &&
         decoded.category() != ZYDIS_CATEGORY_PREFETCH;
}

Memory memory_of(const ZydisDecodedOperand& operand) {
  return {.base = number_of(operand.mem.base),
          .index = number_of(operand.mem.index),
          .scale = operand.mem.index == ZYDIS_REGISTER_NONE ? uint8_t(1) : operand.mem.scale,
          .offset = int32_t(operand.mem.disp.value)};
}

uint64_t rip_target(const Decoded& decoded, const ZydisDecodedOperand& operand) {
  return decoded.next() + uint64_t(operand.mem.disp.value);
}

// By its distance, or as a constant.
bool precedes_sequence(const Decoded& decoded) {
  const ZydisDecodedOperand& from = decoded.operands[1];
  if (decoded.is(ZYDIS_MNEMONIC_LEA) && is_rip_relative(from))
    return begins_sequence(rip_target(decoded, from), decoded.next());
  return decoded.is(ZYDIS_MNEMONIC_MOV) && from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
         begins_sequence(from.imm.value.u, decoded.next());
}

const ZydisDecoder& decoder() {
  static ZydisDecoder made;
  static bool is_made = false;
  if (!is_made) {
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    is_made = true;
  }
  return made;
}

// Of the block that is being translated. Static, as they are large, and stacks of signals small.
Decoded decoded_block[Translator::kMaxInstructions];

}  // namespace

struct Translator::Plan {
  uint64_t source;
  bool records;
  int count = 0;
  uint16_t used = bit(kRsp);
  bool ends_in_jump = false;
  bool is_system_call = false;
  Register base = kNoRegister, scratch = kNoRegister;
  Emitter emit{nullptr};
  Block* block = nullptr;
};

#define OWN(field) (storage_ + int32_t(offsetof(Storage, field)))

// Decodes the block, up to what cannot be translated.
void Translator::read(Plan& plan, const CodeRange& range) {
  int words = 1;
  for (uint64_t at = plan.source; plan.count < kMaxInstructions && words < kMaxWords;) {
    Decoded& decoded = decoded_block[plan.count];
    decoded.at = at;
    const uint64_t room = std::min(range.end - at, kMaxInstructionBytes);
    if (room == 0 ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), reinterpret_cast<const void*>(at), room,
                                             &decoded.instruction, decoded.operands)))
      break;
    if (decoded.category() == ZYDIS_CATEGORY_SYSCALL) {
      plan.is_system_call = plan.count == 0;
      break;
    }
    if (must_stay(decoded) || precedes_sequence(decoded)) break;
    const uint16_t used = plan.used | registers_of(decoded);
    if ((~used & kPlain) == 0 || __builtin_popcount(uint16_t(~used)) < 2) break;
    plan.used = used;
    ++plan.count;
    at = decoded.next();
    for (const ZydisDecodedOperand& operand : decoded.all())
      words += is_recorded(decoded, operand) ? 1 + is_repeated(decoded) : 0;
    if (is_jump(decoded)) {
      plan.ends_in_jump = true;
      break;
    }
  }
}

// `scratch` may stand in for rip in any instruction, so it is a plain one.
bool Translator::choose_registers(Plan& plan) {
  uint16_t left = uint16_t(~plan.used);
  const uint16_t plain = left & kPlain;
  if (plain == 0) return false;
  plan.scratch = (left & bit(kRcx)) != 0 ? kRcx : Register(__builtin_ctz(plain));
  left &= uint16_t(~bit(plan.scratch));
  if (left == 0) return false;
  plan.base = Register(31 - __builtin_clz(left));
  return true;
}

Block& Translator::translate(uint64_t source, const CodeRange& range) {
  Block& block = cache_.begin_block(source);
  if (!range.may_change) {
    Plan plan{.source = source, .records = !range.is_recorder};
    plan.block = &block;
    plan.emit = Emitter(cache_.next_code());
    if (range.runs_natively) {
      emit_native_call(plan);
    } else {
      read(plan, range);
    }
    if (plan.is_system_call) emit_system_call(plan);
    if (plan.count > 0 && choose_registers(plan)) emit_block(plan, block);
    if (plan.emit.at() != cache_.next_code()) {
      block.code = cache_.next_code();
      block.code_bytes = uint32_t(plan.emit.at() - block.code);
    }
  }
  cache_.publish(block);
  return block;
}

// The dispatcher decides whether it may be executed.
void Translator::emit_system_call(Plan& plan) {
  constexpr uint64_t kLength = 2;
  plan.block->is_system_call = true;
  plan.emit.byte(0x0F);
  plan.emit.byte(0x05);
  plan.emit.constant(kRcx, plan.source + kLength);  // as the processor does, at its own place
  emit_exit(plan.emit, plan.source + kLength);
}

// Register r11 is free at a function's begin. The return address makes place for one in the cache.
void Translator::emit_native_call(Plan& plan) {
  Emitter& emit = plan.emit;
  constexpr uint8_t kCallR11[] = {0x41, 0xFF, 0xD3};
  emit.load(kR11, {.base = kRsp});
  emit.store_own(kR11, OWN(target));
  emit.address(kRsp, {.base = kRsp, .offset = 8});
  emit.constant(kR11, plan.source);
  emit.bytes(kCallR11, sizeof kCallR11);
  emit.jump(stubs_.indirect);
}

void Translator::emit_block(Plan& plan, Block& block) {
  Emitter& emit = plan.emit;
  const uint8_t* begin = emit.at();
  block.base = plan.base;
  block.scratch = plan.scratch;
  emit.store_own(plan.base, OWN(base));
  emit.store_own(plan.scratch, OWN(scratch));
  emit.load_own(plan.base, OWN(cursor));
  emit.store_constant(plan.base, cache_.number_of(block));
  uint8_t* words = emit.address_to_patch(plan.scratch, plan.base);
  emit.store_own(plan.scratch, OWN(cursor));
  block.words = 1;
  Place* places = cache_.next_place();
  for (int at = 0; at < plan.count; ++at) {
    emit_operands(plan, at);
    places[block.place_count++] = {uint16_t(emit.at() - begin),
                                   uint16_t(decoded_block[at].at - plan.source)};
    if (plan.ends_in_jump && at == plan.count - 1) {
      emit_last(plan);
    } else {
      emit_copy(plan, at);
    }
  }
  if (!plan.ends_in_jump) {
    restore_registers(plan);
    emit_exit(emit, decoded_block[plan.count - 1].next());
  }
  Emitter::patch_word(words, block.words * uint32_t{sizeof(uint64_t)});
}

// Stores the addresses. The address of an operand relative to rip is left in the scratch register.
void Translator::emit_operands(Plan& plan, int instruction) {
  const Decoded& decoded = decoded_block[instruction];
  Block& block = *plan.block;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (!plan.records || !is_recorded(decoded, operand)) continue;
    const auto put = [&](Register word) {
      plan.emit.store(word, {.base = plan.base, .offset = block.words++ * 8});
    };
    const bool repeated = is_repeated(decoded);
    if (repeated) put(kRcx);
    plan.emit.address(plan.scratch, memory_of(operand));
    put(plan.scratch);
    const std::span code(reinterpret_cast<const uint8_t*>(decoded.at), decoded.instruction.length);
    cache_.next_operand()[block.operand_count++] = {
        .at = uint32_t(decoded.at - plan.source),
        .size = uint8_t(std::min(operand.size / 8, 64)),
        .alignment_class = x86::inspect(code).alignment_class,
        .load = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
        .store = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0,
        .repeated = repeated};
  }
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (is_rip_relative(operand)) plan.emit.constant(plan.scratch, rip_target(decoded, operand));
  }
}

// With [scratch] in place of [rip + offset].
void Translator::emit_copy(Plan& plan, int instruction) {
  const Decoded& decoded = decoded_block[instruction];
  const auto* code = reinterpret_cast<const uint8_t*>(decoded.at);
  const auto& raw = decoded.instruction.raw;
  bool relative = false;
  for (const ZydisDecodedOperand& operand : decoded.all()) relative |= is_rip_relative(operand);
  uint8_t* begin = plan.emit.at();
  if (!relative) return plan.emit.bytes(code, decoded.instruction.length);
  constexpr uint64_t kOffsetBytes = 4;
  plan.emit.bytes(code, raw.disp.offset);
  const uint64_t behind = raw.disp.offset + kOffsetBytes;
  plan.emit.bytes(code + behind, decoded.instruction.length - behind);
  begin[raw.modrm.offset] = uint8_t((begin[raw.modrm.offset] & 0x38) | plan.scratch);
  // The bit that extends the base register is inverted in vector prefixes.
  constexpr uint8_t kExtendsBase = 1, kNoExtension = 0x20;
  switch (decoded.instruction.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
      if ((decoded.instruction.attributes & ZYDIS_ATTRIB_HAS_REX) != 0)
        begin[raw.rex.offset] &= uint8_t(~kExtendsBase);
      break;
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
      if (raw.vex.size == 3) begin[raw.vex.offset + 1] |= kNoExtension;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
      begin[raw.xop.offset + 1] |= kNoExtension;
      break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
      begin[raw.evex.offset + 1] |= kNoExtension;
      break;
    default:
      break;
  }
}

void Translator::restore_registers(Plan& plan) {
  plan.emit.load_own(plan.scratch, OWN(scratch));
  plan.emit.load_own(plan.base, OWN(base));
}

void Translator::emit_last(Plan& plan) {
  Emitter& emit = plan.emit;
  const Decoded& decoded = decoded_block[plan.count - 1];
  const ZydisDecodedOperand& operand = decoded.operands[0];
  const Memory top{.base = kRsp};
  const auto is_immediate = operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  const uint64_t target = decoded.next() + uint64_t(is_immediate ? operand.imm.value.s : 0);
  switch (decoded.category()) {
    case ZYDIS_CATEGORY_COND_BR: {
      restore_registers(plan);
      if (decoded.is(ZYDIS_MNEMONIC_JRCXZ) || decoded.is(ZYDIS_MNEMONIC_JECXZ)) {
        if (decoded.is(ZYDIS_MNEMONIC_JECXZ)) emit.byte(0x67);
        uint8_t* taken = emit.jump_if_rcx_is_0();
        uint8_t* other = emit.jump_forward();
        emit.patch_short(taken);
        emit_exit(emit, target);
        emit.patch(other);
        return emit_exit(emit, decoded.next());
      }
      uint8_t* taken = emit.jump_if(decoded.instruction.opcode & 15);
      emit_exit(emit, decoded.next());
      emit.patch(taken);
      return emit_exit(emit, target);
    }
    case ZYDIS_CATEGORY_RET: {
      const int32_t popped = is_immediate ? int32_t(operand.imm.value.u) : 0;
      emit.load(plan.scratch, top);
      emit.store_own(plan.scratch, OWN(target));
      emit.address(kRsp, {.base = kRsp, .offset = 8 + popped});
      restore_registers(plan);
      return emit.jump(stubs_.indirect);
    }
    default:
      break;
  }
  if (!is_immediate) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      emit.store_own(number_of(operand.reg.value), OWN(target));
    } else {
      if (!is_rip_relative(operand)) emit.address(plan.scratch, memory_of(operand));
      emit.load(plan.scratch, {.base = plan.scratch});
      emit.store_own(plan.scratch, OWN(target));
    }
  }
  if (decoded.category() == ZYDIS_CATEGORY_CALL) {
    emit.constant(plan.scratch, decoded.next());
    emit.store(plan.scratch, {.base = kRsp, .offset = -8});  // first, as it may fault
    emit.address(kRsp, {.base = kRsp, .offset = -8});
  }
  restore_registers(plan);
  if (is_immediate) return emit_exit(emit, target);
  emit.jump(stubs_.indirect);
}

// Asks the dispatcher if the buffer is full, or the exit leads nowhere yet.
void Translator::emit_exit(Emitter& emit, uint64_t target) {
  Exit& exit = cache_.add_exit(target);
  emit.store_own(kRcx, OWN(third));
  emit.load_own_byte_into_ecx(OWN(cursor) + Storage::kFullByte);
  uint8_t* full = emit.jump_if_rcx_is_0();
  emit.load_own(kRcx, OWN(third));
  emit.jump_through(&exit.code);
  emit.patch_short(full);
  emit.load_own(kRcx, OWN(third));
  exit.code.store(emit.at(), std::memory_order_relaxed);
  emit.store_own(OWN(exit), cache_.number_of(exit));
  emit.jump(stubs_.dispatch);
}

}  // namespace halo::native
