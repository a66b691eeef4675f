// A decoder for calls, returns and alignment-requiring accesses of x86-64.
#include "base/x86/instruction.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace halo::x86 {

namespace {

enum class Encoding { kLegacy, kVex, kEvex };
// The mandatory prefix, as VEX numbers them.
enum Prefix : uint8_t { kNone = 0, k66 = 1, kF3 = 2, kF2 = 3 };
enum Map : uint8_t { kOneByte = 0, k0F = 1, k0F38 = 2, k0F3A = 3 };

struct Instruction {
  Encoding encoding = Encoding::kLegacy;
  uint8_t prefix = kNone;
  uint8_t map = kOneByte;
  uint8_t opcode = 0;
  uint8_t modrm = 0;
  uint8_t sib = 0;
  uint8_t rex = 0;
  uint8_t vector_bytes_log2 = 4;  // 16, 32 or 64 bytes
  bool has_modrm = false;

  bool memory() const { return has_modrm && modrm >> 6 != 3; }
  uint8_t reg() const { return uint8_t((modrm >> 3 & 7) | (rex & 4) << 1); }
  uint8_t rm() const { return uint8_t((modrm & 7) | (rex & 1) << 3); }
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint8_t peek(size_t ahead = 0) const {
    return at_ + ahead < bytes_.size() ? bytes_[at_ + ahead] : 0;
  }
  uint8_t next() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  bool done() const { return at_ >= bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

void read_legacy_prefixes(Reader& in, Instruction& out) {
  for (;; in.next()) {
    switch (in.peek()) {
      case 0x66:
        if (out.prefix == kNone) out.prefix = k66;
        continue;
      case 0xF3:
        out.prefix = kF3;
        continue;
      case 0xF2:
        out.prefix = kF2;
        continue;
      case 0x26:
      case 0x2E:
      case 0x36:
      case 0x3E:
      case 0x64:
      case 0x65:
      case 0x67:
      case 0xF0:
        continue;
      default:
        return;
    }
  }
}

void read_vex(Reader& in, Instruction& out) {
  out.encoding = Encoding::kVex;
  const bool three = in.next() == 0xC4;
  out.map = k0F;
  if (three) {
    const uint8_t first = in.next();
    out.rex = ~first >> 5 & 1;  // the B bit is inverted here
    out.map = first & 0x1F;
  }
  const uint8_t last = in.next();
  out.prefix = last & 3;
  out.vector_bytes_log2 = uint8_t(4 + (last >> 2 & 1));
}

void read_evex(Reader& in, Instruction& out) {
  out.encoding = Encoding::kEvex;
  in.next();
  const uint8_t first = in.next();
  out.rex = ~first >> 5 & 1;
  out.map = first & 7;
  out.prefix = in.next() & 3;
  out.vector_bytes_log2 = uint8_t(4 + (in.next() >> 5 & 3));
}

void read_legacy_opcode(Reader& in, Instruction& out) {
  if ((in.peek() & 0xF0) == 0x40) out.rex = in.next();
  if (in.peek() != 0x0F) return;
  in.next();
  out.map = k0F;
  if (in.peek() == 0x38 || in.peek() == 0x3A) out.map = in.next() == 0x38 ? k0F38 : k0F3A;
}

Instruction decode(std::span<const uint8_t> bytes) {
  Reader in(bytes);
  Instruction out;
  read_legacy_prefixes(in, out);
  // In 64-bit code C4, C5 and 62 are always these prefixes.
  if (in.peek() == 0xC4 || in.peek() == 0xC5) {
    read_vex(in, out);
  } else if (in.peek() == 0x62) {
    read_evex(in, out);
  } else {
    read_legacy_opcode(in, out);
  }
  out.opcode = in.next();
  out.has_modrm = !in.done();
  out.modrm = in.peek();
  out.sib = in.peek(1);
  return out;
}

bool in_ranges(uint8_t opcode, std::span<const std::array<uint8_t, 2>> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& range) { return opcode >= range[0] && opcode <= range[1]; });
}

// Legacy map 0F, no prefix or 66: instructions whose memory operand is a whole 16-byte vector that
// must be aligned. Only with 66 do the MMX ones become SSE.
bool aligned_in_0f(const Instruction& i) {
  static constexpr std::array<uint8_t, 2> kBoth[] = {
      {0x14, 0x15},  // unpcklps/pd, unpckhps/pd
      {0x28, 0x29},  // movaps, movapd
      {0x2B, 0x2B},  // movntps, movntpd
      {0x51, 0x51},  // sqrt
      {0x54, 0x59},  // and, andn, or, xor, add, mul
      {0x5C, 0x5F},  // sub, min, div, max
      {0xC2, 0xC2},  // cmpps, cmppd
      {0xC6, 0xC6},  // shufps, shufpd
  };
  static constexpr std::array<uint8_t, 2> kWithout[] = {
      {0x52, 0x53},  // rsqrtps, rcpps
      {0x5B, 0x5B},  // cvtdq2ps
  };
  static constexpr std::array<uint8_t, 2> kWith66[] = {
      {0x5A, 0x5B},  // cvtpd2ps, cvtps2dq
      {0x60, 0x6D},  // punpck…, pack…, pcmpgt…
      {0x6F, 0x70},  // movdqa, pshufd
      {0x74, 0x76},  // pcmpeq…
      {0x7C, 0x7D},  // haddpd, hsubpd
      {0x7F, 0x7F},  // movdqa
      {0xD0, 0xD5},  // addsubpd, psrl…, paddq, pmullw
      {0xD8, 0xE5},  // psubus… to pmulhw
      {0xE6, 0xEF},  // cvttpd2dq, movntdq, psubs… to pxor
      {0xF1, 0xF6},  // psll…, pmuludq, pmaddwd, psadbw
      {0xF8, 0xFE},  // psub…, padd…
  };
  if (i.prefix == kNone) return in_ranges(i.opcode, kBoth) || in_ranges(i.opcode, kWithout);
  if (i.prefix == k66) {
    // 2D and 2C (cvtpd2pi) are MMX, but their operand is a vector.
    return in_ranges(i.opcode, kBoth) || in_ranges(i.opcode, kWith66) || i.opcode == 0x2C ||
           i.opcode == 0x2D;
  }
  // All other F2 and F3 forms are scalar, partial (movddup) or unaligned (movdqu, lddqu).
  static constexpr std::array<uint8_t, 2> kWithF2[] = {
      {0x70, 0x70},  // pshuflw
      {0x7C, 0x7D},  // haddps, hsubps
      {0xD0, 0xD0},  // addsubps
      {0xE6, 0xE6},  // cvtpd2dq
  };
  static constexpr std::array<uint8_t, 2> kWithF3[] = {
      {0x12, 0x12},  // movsldup
      {0x16, 0x16},  // movshdup
      {0x5B, 0x5B},  // cvttps2dq
      {0x70, 0x70},  // pshufhw
  };
  return i.prefix == kF2 ? in_ranges(i.opcode, kWithF2) : in_ranges(i.opcode, kWithF3);
}

bool aligned_in_0f38(const Instruction& i) {
  static constexpr std::array<uint8_t, 2> kWith66[] = {
      {0x00, 0x0B},                // pshufb, phadd…, psign…, pmulhrsw
      {0x10, 0x10}, {0x14, 0x15},  // pblendvb, blendv…
      {0x17, 0x17},                // ptest
      {0x1C, 0x1E},                // pabs…
      {0x28, 0x2B},                // pmuldq, pcmpeqq, movntdqa, packusdw
      {0x37, 0x41},                // pcmpgtq, pmin…, pmax…, pmulld, phminposuw
      {0xCF, 0xCF},                // gf2p8mulb
      {0xDB, 0xDF},                // aes…
  };
  if (i.prefix == k66) return in_ranges(i.opcode, kWith66);
  return i.prefix == kNone && i.opcode >= 0xC8 && i.opcode <= 0xCD;  // sha…
}

bool aligned_in_0f3a(const Instruction& i) {
  static constexpr std::array<uint8_t, 2> kWith66[] = {
      {0x08, 0x09}, {0x0C, 0x0F},  // roundps/pd, blendps/pd, pblendw, palignr
      {0x40, 0x42}, {0x44, 0x44},  // dpps, dppd, mpsadbw, pclmulqdq
      {0xCE, 0xCF}, {0xDF, 0xDF},  // gf2p8affine…, aeskeygenassist
  };
  if (i.prefix == k66) return in_ranges(i.opcode, kWith66);
  return i.prefix == kNone && i.opcode == 0xCC;  // sha1rnds4
}

// Instructions of the groups 0F AE and 0F C7, selected by the reg field.
uint8_t group_class(const Instruction& i) {
  const uint8_t which = i.modrm >> 3 & 7;
  // cmpxchg16b
  if (i.opcode == 0xC7 && which == 1) return (i.rex & 8) != 0 ? 1 : 0;
  if (i.prefix != kNone) return 0;
  if (i.opcode == 0xC7) return which >= 3 && which <= 5 ? 3 : 0;  // xrstors, xsavec, xsaves
  if (which <= 1) return 1;                                       // fxsave, fxrstor
  return which >= 4 && which <= 6 ? 3 : 0;                        // xsave, xrstor, xsaveopt
}

uint8_t legacy_class(const Instruction& i) {
  if (i.map == k0F && (i.opcode == 0xAE || i.opcode == 0xC7)) return group_class(i);
  const bool aligned = (i.map == k0F && aligned_in_0f(i)) ||
                       (i.map == k0F38 && aligned_in_0f38(i)) ||
                       (i.map == k0F3A && aligned_in_0f3a(i));
  return aligned ? 1 : 0;
}

// Of the VEX and EVEX forms, only the explicitly aligned moves require alignment.
bool vector_move_aligned(const Instruction& i) {
  const bool packed = i.prefix == kNone || i.prefix == k66;
  if (i.map == k0F) {
    if (i.opcode == 0x28 || i.opcode == 0x29 || i.opcode == 0x2B) return packed;
    return i.prefix == k66 && (i.opcode == 0x6F || i.opcode == 0x7F || i.opcode == 0xE7);
  }
  return i.map == k0F38 && i.prefix == k66 && i.opcode == 0x2A;
}

// Whether the memory operand is relative to rsp or rbp.
bool in_frame(const Instruction& i) {
  constexpr uint8_t kSibFollows = 4, kRsp = 4, kRbp = 5;
  if ((i.rex & 1) != 0) return false;
  const uint8_t base = (i.modrm & 7) == kSibFollows ? i.sib & 7 : i.modrm & 7;
  // Without a displacement, rbp's number means no base, or rip.
  return base == kRsp || (base == kRbp && i.modrm >> 6 != 0);
}

// pop rsp; mov, xchg with a register that is not callee-saved; mov from memory other than a frame.
// A restore from a callee-saved register or a frame slot only ends a variable-length array.
bool moves_stack(const Instruction& i) {
  constexpr uint8_t kRsp = 4, kRbp = 5, kRbx = 3, kR12 = 12;
  if (i.encoding != Encoding::kLegacy || i.map != kOneByte) return false;
  if (i.opcode == 0x5C && (i.rex & 1) == 0) return true;
  if ((i.rex & 8) == 0) return false;
  if (i.opcode == 0x94 && (i.rex & 1) == 0) return true;
  const auto clobbered = [&](uint8_t reg) {
    return reg != kRbp && reg != kRbx && reg != kRsp && reg < kR12;
  };
  if (i.memory()) {
    return (i.opcode == 0x8B || i.opcode == 0x87) && i.reg() == kRsp && !in_frame(i);
  }
  if (i.opcode == 0x8B) return i.reg() == kRsp && clobbered(i.rm());
  if (i.opcode == 0x89) return i.rm() == kRsp && clobbered(i.reg());
  return i.opcode == 0x87 && (i.reg() == kRsp || i.rm() == kRsp);
}

Flow flow_of(const Instruction& i) {
  if (i.encoding != Encoding::kLegacy || i.map != kOneByte) return Flow::kNone;
  if (i.opcode == 0xE8) return Flow::kCall;
  if (i.opcode == 0xC3 || i.opcode == 0xC2) return Flow::kReturn;
  if (i.opcode == 0xFF && i.has_modrm) return (i.modrm >> 3 & 7) == 2 ? Flow::kCall : Flow::kNone;
  return moves_stack(i) ? Flow::kMoveStack : Flow::kNone;
}

bool touches_only_stack(const Instruction& i) {
  constexpr uint8_t kSibFollows = 4, kRsp = 4;
  if (i.memory()) return (i.modrm & 7) == kSibFollows && (i.sib & 7) == kRsp && (i.rex & 1) == 0;
  return i.encoding == Encoding::kLegacy && i.map == kOneByte && (i.opcode & 0xF0) == 0x50;
}

}  // namespace

InstructionFacts inspect(std::span<const uint8_t> bytes) {
  const Instruction i = decode(bytes);
  InstructionFacts facts{
      .flow = flow_of(i), .alignment_class = 0, .only_stack = touches_only_stack(i)};
  if (!i.memory()) return facts;
  if (i.encoding == Encoding::kLegacy) {
    facts.alignment_class = legacy_class(i);
  } else if (vector_move_aligned(i)) {
    facts.alignment_class = uint8_t(std::clamp(i.vector_bytes_log2 - 3, 1, 3));
  }
  return facts;
}

}  // namespace halo::x86
