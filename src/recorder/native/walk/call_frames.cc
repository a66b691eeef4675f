// Finds an entry of .eh_frame by the index, and runs its instructions.
#include "recorder/native/walk/call_frames.h"

namespace halo::native {

namespace {

// Registers by their DWARF numbers (System V ABI, AMD64 supplement, figure 3.36).
enum : uint64_t { kRbp = 6, kRsp = 7, kReturnAddress = 16 };

// Encodings of pointers (Linux Standard Base 5.0, core part, section 10.5).
enum : uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSleb = 0x09,
  kSdata2 = 0x0A,
  kSdata4 = 0x0B,
  kSdata8 = 0x0C,
  kFormat = 0x0F,
  kPcRelative = 0x10,
  kDataRelative = 0x30,
  kRelation = 0x70,
  kIndirect = 0x80,
  kOmitted = 0xFF,
};
constexpr uint8_t kTableEncoding = kDataRelative | kSdata4;

class Reader {
 public:
  Reader(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

  bool done() const { return at_ >= end_; }
  const uint8_t* at() const { return at_; }
  void skip(uint64_t bytes) { at_ = bytes > uint64_t(end_ - at_) ? end_ : at_ + bytes; }
  Reader take(uint64_t bytes) {
    const uint8_t* begin = at_;
    skip(bytes);
    return {begin, at_};
  }

  template <class T>
  T number() {
    T value{};
    if (uint64_t(end_ - at_) < sizeof value) {
      at_ = end_;
      return value;
    }
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (int shift = 0; !done(); shift += 7) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= uint64_t(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    int shift = 0;
    uint8_t byte = 0;
    while (!done()) {
      byte = *at_++;
      if (shift < 64) value |= uint64_t(byte & 0x7F) << shift;
      shift += 7;
      if ((byte & 0x80) == 0) break;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return int64_t(value);
  }
  // `data`: the address that data-relative pointers count from.
  uint64_t pointer(uint8_t encoding, uint64_t data) {
    if (encoding == kOmitted) return 0;
    const uint64_t place = reinterpret_cast<uint64_t>(at_);
    uint64_t value = formatted(encoding & kFormat);
    if (value == 0) return 0;
    if ((encoding & kRelation) == kPcRelative) value += place;
    if ((encoding & kRelation) == kDataRelative) value += data;
    if ((encoding & kIndirect) != 0)
      __builtin_memcpy(&value, reinterpret_cast<const void*>(value), 8);
    return value;
  }

 private:
  uint64_t formatted(uint8_t format) {
    switch (format) {
      case kUleb:
        return unsigned_leb();
      case kUdata2:
        return number<uint16_t>();
      case kUdata4:
        return number<uint32_t>();
      case kSleb:
        return uint64_t(signed_leb());
      case kSdata2:
        return uint64_t(int64_t(number<int16_t>()));
      case kSdata4:
        return uint64_t(int64_t(number<int32_t>()));
      default:  // kAbsolute, kUdata8, kSdata8
        return number<uint64_t>();
    }
  }

  const uint8_t* at_;
  const uint8_t* end_;
};

// A common information entry: what several functions share.
struct Common {
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint8_t pointers = kAbsolute;
  bool augmented = false;
  bool of_signal = false;
  Reader instructions{nullptr, nullptr};
};

// Begins behind the length; `length` is 0 at the end of a section, and for the 64-bit format, which
// no compiler uses here.
Reader entry_at(const uint8_t* at) {
  uint32_t length = 0;
  __builtin_memcpy(&length, at, sizeof length);
  at += sizeof length;
  return {at, length == UINT32_MAX ? at : at + length};
}

bool read_common(const uint8_t* at, Common& common) {
  Reader entry = entry_at(at);
  if (entry.number<uint32_t>() != 0 || entry.done()) return false;
  const uint8_t version = entry.number<uint8_t>();
  const char* augmentation = reinterpret_cast<const char*>(entry.at());
  while (entry.number<uint8_t>() != 0) continue;
  common.code_factor = entry.unsigned_leb();
  common.data_factor = entry.signed_leb();
  if (version == 1) {
    entry.skip(1);
  } else {
    entry.unsigned_leb();
  }
  common.augmented = *augmentation == 'z';
  if (common.augmented) {
    Reader data = entry.take(entry.unsigned_leb());
    for (const char* letter = augmentation + 1; *letter != 0; ++letter) {
      if (*letter == 'R') common.pointers = data.number<uint8_t>();
      if (*letter == 'L') data.skip(1);
      if (*letter == 'P') data.pointer(data.number<uint8_t>() & uint8_t(~kIndirect), 0);
      if (*letter == 'S') common.of_signal = true;
    }
  }
  common.instructions = entry;
  return true;
}

// The rule of a saved register.
struct Rule {
  enum class Kind : uint8_t { kSame, kUndefined, kAtCfa, kAtFrame, kOther };
  Kind kind = Kind::kSame;
  int64_t offset = 0;
};

struct Rules {
  uint64_t cfa_register = kRsp;
  int64_t cfa_offset = 8;
  bool cfa_is_stored = false;  // the CFA is the word at that register and offset
  bool cfa_is_known = true;
  Rule frame;
  Rule return_address{Rule::Kind::kAtCfa, -8};
};

// Runs call frame instructions (DWARF 5, section 6.4.2) up to a code address.
class Machine {
 public:
  explicit Machine(const Common& common) : common_(common) {}

  // `location`: that of the first instruction.
  void run(Reader instructions, uint64_t location, uint64_t until) {
    while (!instructions.done() && location <= until) step(instructions, location);
  }
  void keep_initial() { initial_ = rules_; }
  const Rules& rules() const { return rules_; }

 private:
  enum : uint8_t { kAdvance = 1, kOffset = 2, kRestore = 3 };
  static constexpr int kRemembered = 8;

  void advance(uint64_t& location, uint64_t delta) { location += delta * common_.code_factor; }

  Rule* rule_of(uint64_t number) {
    if (number == kRbp) return &rules_.frame;
    if (number == kReturnAddress) return &rules_.return_address;
    return nullptr;
  }
  void set(uint64_t number, Rule rule) {
    if (Rule* found = rule_of(number)) *found = rule;
  }
  void restore(uint64_t number) {
    if (number == kRbp) rules_.frame = initial_.frame;
    if (number == kReturnAddress) rules_.return_address = initial_.return_address;
  }
  void define_cfa(uint64_t number, int64_t offset) {
    rules_.cfa_register = number;
    rules_.cfa_offset = offset;
    rules_.cfa_is_stored = false;
    rules_.cfa_is_known = true;
  }

  // "breg N, offset; deref" is what compilers emit for realigned stacks.
  void define_cfa(Reader expression) {
    uint64_t number;
    int64_t offset;
    rules_.cfa_is_known = read_base(expression, number, offset);
    if (!rules_.cfa_is_known) return;
    rules_.cfa_register = number;
    rules_.cfa_offset = offset;
    rules_.cfa_is_stored = !expression.done() && expression.number<uint8_t>() == kDeref;
    rules_.cfa_is_known = expression.done();
  }
  void set_from(uint64_t number, Reader expression) {
    uint64_t base;
    int64_t offset;
    const bool known = read_base(expression, base, offset) && expression.done() && base == kRbp;
    set(number, known ? Rule{Rule::Kind::kAtFrame, offset} : Rule{Rule::Kind::kOther, 0});
  }
  static bool read_base(Reader& expression, uint64_t& number, int64_t& offset) {
    const uint8_t operation = expression.number<uint8_t>();
    if (operation < kBaseRegister || operation > kBaseRegister + 31) return false;
    number = operation - kBaseRegister;
    offset = expression.signed_leb();
    return true;
  }

  void step(Reader& from, uint64_t& location) {
    const uint8_t byte = from.number<uint8_t>();
    const uint8_t low = byte & 0x3F;
    switch (byte >> 6) {
      case kAdvance:
        return advance(location, low);
      case kOffset:
        return set(low, at_cfa(int64_t(from.unsigned_leb()) * common_.data_factor));
      case kRestore:
        return restore(low);
      default:
        return extended(low, from, location);
    }
  }

  static Rule at_cfa(int64_t offset) { return {Rule::Kind::kAtCfa, offset}; }

  void extended(uint8_t operation, Reader& from, uint64_t& location) {
    const int64_t factor = common_.data_factor;
    uint64_t number;
    switch (operation) {
      case 0x00:  // nop
        return;
      case 0x01:  // set_loc
        location = from.pointer(common_.pointers, 0);
        return;
      case 0x02:  // advance_loc1, 2 and 4
        return advance(location, from.number<uint8_t>());
      case 0x03:
        return advance(location, from.number<uint16_t>());
      case 0x04:
        return advance(location, from.number<uint32_t>());
      case 0x05:  // offset_extended
        number = from.unsigned_leb();
        return set(number, at_cfa(int64_t(from.unsigned_leb()) * factor));
      case 0x06:  // restore_extended
        return restore(from.unsigned_leb());
      case 0x07:  // undefined
        return set(from.unsigned_leb(), {Rule::Kind::kUndefined, 0});
      case 0x08:  // same_value
        return set(from.unsigned_leb(), {Rule::Kind::kSame, 0});
      case 0x09:  // register
        number = from.unsigned_leb();
        from.unsigned_leb();
        return set(number, {Rule::Kind::kOther, 0});
      case 0x0A:  // remember_state
        if (remembered_ < kRemembered) stack_[remembered_] = rules_;
        ++remembered_;
        return;
      case 0x0B:  // restore_state
        if (remembered_ == 0) return;
        --remembered_;
        if (remembered_ < kRemembered) rules_ = stack_[remembered_];
        return;
      case 0x0C:  // def_cfa
        number = from.unsigned_leb();
        return define_cfa(number, int64_t(from.unsigned_leb()));
      case 0x0D:  // def_cfa_register
        return define_cfa(from.unsigned_leb(), rules_.cfa_offset);
      case 0x0E:  // def_cfa_offset
        rules_.cfa_offset = int64_t(from.unsigned_leb());
        return;
      case 0x0F:  // def_cfa_expression
        return define_cfa(from.take(from.unsigned_leb()));
      case 0x10:  // expression
        number = from.unsigned_leb();
        return set_from(number, from.take(from.unsigned_leb()));
      case 0x11:  // offset_extended_sf
        number = from.unsigned_leb();
        return set(number, at_cfa(from.signed_leb() * factor));
      case 0x12:  // def_cfa_sf
        number = from.unsigned_leb();
        return define_cfa(number, from.signed_leb() * factor);
      case 0x13:  // def_cfa_offset_sf
        rules_.cfa_offset = from.signed_leb() * factor;
        return;
      case 0x14:  // val_offset
      case 0x15:  // val_offset_sf
        number = from.unsigned_leb();
        from.unsigned_leb();
        return set(number, {Rule::Kind::kOther, 0});
      case 0x16:  // val_expression
        number = from.unsigned_leb();
        from.take(from.unsigned_leb());
        return set(number, {Rule::Kind::kOther, 0});
      case 0x2E:  // GNU_args_size
        from.unsigned_leb();
        return;
      default:
        rules_.cfa_is_known = false;
        from.skip(UINT64_MAX);
    }
  }

  static constexpr uint8_t kBaseRegister = 0x70, kDeref = 0x06;

  const Common& common_;
  Rules rules_, initial_;
  Rules stack_[kRemembered];
  int remembered_ = 0;
};

Row reduce(const Rules& rules) {
  using Kind = Rule::Kind;
  Row row;
  if (rules.return_address.kind == Kind::kUndefined) {
    row.base = Row::Base::kOutermost;
    return row;
  }
  if (!rules.cfa_is_known || rules.return_address.kind != Kind::kAtCfa ||
      rules.return_address.offset != -8)
    return row;
  row.offset = int32_t(rules.cfa_offset);
  if (rules.frame.kind == Kind::kAtCfa) row.saved = Row::Saved::kAtCfa;
  if (rules.frame.kind == Kind::kAtFrame) row.saved = Row::Saved::kAtFrame;
  row.frame_at = int16_t(rules.frame.offset);
  if (rules.cfa_offset != row.offset || rules.frame.offset != row.frame_at) return {};
  if (rules.cfa_register == kRbp)
    row.base = rules.cfa_is_stored ? Row::Base::kStoredAtFrame : Row::Base::kFrame;
  if (rules.cfa_register == kRsp && !rules.cfa_is_stored) row.base = Row::Base::kStack;
  return row;
}

// The entry of a function (FDE), if it contains the code.
Row row_of(const uint8_t* at, uint64_t code) {
  Reader entry = entry_at(at);
  const uint8_t* place = entry.at();
  const uint32_t back = entry.number<uint32_t>();
  Common common;
  if (back == 0 || !read_common(place - back, common)) return {};
  const uint64_t begin = entry.pointer(common.pointers, 0);
  const uint64_t size = entry.pointer(common.pointers & kFormat, 0);
  if (code - begin >= size) return {};
  if (common.of_signal) return {.base = Row::Base::kSignal};
  if (common.augmented) entry.skip(entry.unsigned_leb());
  Machine machine(common);
  machine.run(common.instructions, begin, UINT64_MAX);
  machine.keep_initial();
  machine.run(entry, begin, code);
  return reduce(machine.rules());
}

struct IndexEntry {
  int32_t code;  // both relative to the section
  int32_t entry;
};

}  // namespace

Row find_row(const uint8_t* eh_frame_hdr, uint64_t code) {
  const uint64_t section = reinterpret_cast<uint64_t>(eh_frame_hdr);
  // The header's own length is not in it; the encodings say where the table begins.
  Reader header(eh_frame_hdr, eh_frame_hdr + 4 + 2 * sizeof(uint64_t));
  const uint8_t version = header.number<uint8_t>();
  const uint8_t frame_encoding = header.number<uint8_t>();
  const uint8_t count_encoding = header.number<uint8_t>();
  const uint8_t table_encoding = header.number<uint8_t>();
  if (version != 1 || table_encoding != kTableEncoding) return {};
  header.pointer(frame_encoding, section);
  const uint64_t count = header.pointer(count_encoding, section);
  const auto* table = reinterpret_cast<const IndexEntry*>(header.at());
  const int64_t wanted = int64_t(code - section);
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (table[middle].code <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return {};
  return row_of(eh_frame_hdr + table[low - 1].entry, code);
}

}  // namespace halo::native
