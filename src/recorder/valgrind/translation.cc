// One superblock at a time.
#include "recorder/valgrind/translation.h"

#include <sys/mman.h>

#include "base/x86/instruction.h"
#include "recorder/channel/word.h"
#include "recorder/valgrind/ir_builder.h"
#include "recorder/valgrind/pending_calls.h"
#include "recorder/valgrind/thread_words.h"

namespace halo::valgrind {

namespace {

using channel::Word;

constexpr uint32_t kFma = 1u << 12, kFma4 = 1u << 16;  // bits of ecx

// Programs select code by the processor's features. The translator calls helper functions for fused
// multiply-adds, which take a hundred times as long as the instructions they replace. So this
// feature is hidden.
void hide_fused_multiply(VexGuestAMD64State* registers, uint64_t leaf) {
  if (uint32_t(leaf) == 1) registers->guest_RCX &= ~uint64_t{kFma};
  if (uint32_t(leaf) == 0x80000001) registers->guest_RCX &= ~uint64_t{kFma4};
}

uint32_t log2_of(uint32_t bytes) {
  uint32_t log2 = 0;
  while (bytes > 1u << log2) ++log2;
  return log2;
}

bool is_temporary(const IRExpr* expression) { return expression->tag == Iex_RdTmp; }

bool begins_with(const HChar* text, const char* start) {
  while (*start != 0)
    if (*text++ != *start++) return false;
  return true;
}

class Superblock {
 public:
  Superblock(const Translation& options, AccessLists& lists, IRSB* in, IRSB* out,
             const VexGuestLayout& layout, uint64_t outer_return)
      : options_(options),
        lists_(lists),
        in_(in),
        ir_(out),
        words_(offset_of_words(int(layout.total_sizeB))),
        layout_(layout),
        outer_return_(outer_return) {}

  void instrument() {
    // Checks for self-modifying code precede the first instruction.
    for (; at_ < in_->stmts_used && in_->stmts[at_]->tag != Ist_IMark; ++at_)
      ir_.add(in_->stmts[at_]);
    for (; at_ < in_->stmts_used; ++at_) statement(in_->stmts[at_]);
    name_accesses();
    resolve_names();
    count_instructions();
    predict_end();
  }

 private:
  // Indirect jumps go through the core's dispatcher, whose single indirect jump the processor
  // cannot predict. A jump to the target that this one has now becomes a direct one.
  void predict_end() {
    const uint64_t target = likely_target();
    if (target == 0) return;
    IRExpr* same = ir_.value(Ity_I1, IRExpr_Binop(Iop_CmpEQ64, in_->next, constant(target)));
    ir_.add(IRStmt_Exit(same, Ijk_Boring, IRConst_U64(target), layout_.offset_IP));
  }

  // 0 if unknown.
  uint64_t likely_target() const {
    if (!is_temporary(in_->next)) return 0;
    if (in_->jumpkind == Ijk_Ret) return inner_return_ != 0 ? inner_return_ : outer_return_;
    if (in_->jumpkind != Ijk_Boring && in_->jumpkind != Ijk_Call) return 0;
    const IRExpr* loaded = definition_of(in_->next->Iex.RdTmp.tmp);
    if (loaded == nullptr || loaded->tag != Iex_Load || loaded->Iex.Load.addr->tag != Iex_Const)
      return 0;
    // A function pointer, mostly the linker's. Its value is only a guess.
    const uint64_t pointer = loaded->Iex.Load.addr->Iex.Const.con->Ico.U64;
    if (!VG_(am_is_valid_for_client)(pointer, sizeof pointer, PROT_READ)) return 0;
    return *reinterpret_cast<const uint64_t*>(pointer);
  }

  const IRExpr* definition_of(IRTemp temporary) const {
    for (int at = at_ < in_->stmts_used ? at_ : in_->stmts_used; at-- > 0;) {
      const IRStmt* statement = in_->stmts[at];
      if (statement->tag == Ist_WrTmp && statement->Ist.WrTmp.tmp == temporary)
        return statement->Ist.WrTmp.data;
    }
    return nullptr;
  }

  // The common state of the statements of an instruction.
  struct Current {
    x86::InstructionFacts facts;
    uint64_t code = 0, next = 0;
    bool skipped = false;
    bool is_message = false;
  };

  void statement(IRStmt* statement) {
    switch (statement->tag) {
      case Ist_NoOp:
        return;
      case Ist_IMark:
        begin_instruction(statement->Ist.IMark.addr, statement->Ist.IMark.len);
        break;
      case Ist_WrTmp:
        load(statement->Ist.WrTmp.data);
        break;
      case Ist_Store:
        store(statement->Ist.Store.addr, statement->Ist.Store.data);
        break;
      case Ist_LoadG: {
        const IRLoadG& load = *statement->Ist.LoadG.details;
        guarded(load.addr, guarded_bytes(load), false, load.guard);
        break;
      }
      case Ist_StoreG: {
        const IRStoreG& store = *statement->Ist.StoreG.details;
        guarded(store.addr, bytes_of(store.data), true, store.guard);
        break;
      }
      case Ist_CAS: {
        const IRCAS& swap = *statement->Ist.CAS.details;
        access(swap.addr, bytes_of(swap.dataLo) * (swap.dataHi != nullptr ? 2 : 1), true);
        break;
      }
      case Ist_Dirty:
        return dirty(statement);
      case Ist_Put:
        put(statement->Ist.Put.offset, statement->Ist.Put.data);
        break;
      case Ist_Exit:
        name_accesses();
        count_instructions();
        break;
      default:
        break;
    }
    ir_.add(statement);
  }

  void begin_instruction(uint64_t code, uint32_t length) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(code);
    now_ = {.facts = x86::inspect({bytes, length}), .code = code, .next = code + length};
    now_.is_message = code == options_.message_store;
    const bool in_guest = options_.guest_begin <= code && code < options_.guest_end;
    const bool stack = now_.facts.only_stack && now_.facts.flow != x86::Flow::kCall;
    now_.skipped = options_.all_accesses ? in_guest : stack;
    if (now_.facts.flow == x86::Flow::kMoveStack) push_pending(constant(0), constant(0));
    uncounted_ += !in_guest;
  }

  // Counts the instructions since the previous exit, before an exit or the end.
  void count_instructions() {
    if (options_.instructions == nullptr || uncounted_ == 0) return;
    IRExpr* counter = constant(reinterpret_cast<uint64_t>(options_.instructions));
    ir_.store(counter, ir_.op(Iop_Add64, ir_.load(Ity_I64, counter), constant(uncounted_)));
    uncounted_ = 0;
  }

  void load(const IRExpr* data) {
    if (data->tag != Iex_Load) return;
    IRExpr* address = data->Iex.Load.addr;
    access(address, uint32_t(sizeofIRType(data->Iex.Load.ty)), false);
    if (now_.facts.flow == x86::Flow::kReturn) match_return(address);
  }

  void store(IRExpr* address, IRExpr* data) {
    if (now_.is_message) return message(address);
    const bool return_address = now_.facts.flow == x86::Flow::kCall && data->tag == Iex_Const;
    if (!return_address || options_.all_accesses) access(address, bytes_of(data), true);
    if (!return_address) return;
    push_pending(address, constant(now_.next));
    inner_return_ = now_.next;
  }

  void push_pending(IRExpr* slot, IRExpr* return_address) {
    IRExpr* end = ir_.get(offset(&ThreadWords::pending));
    ir_.store(end, slot);
    ir_.store(ir_.op(Iop_Add64, end, constant(8)), return_address);
    ir_.put(offset(&ThreadWords::pending),
            ir_.op(Iop_Add64, end, constant(sizeof(PendingCalls::Call))));
  }

  void match_return(IRExpr* slot) {
    IRExpr* last = ir_.op(Iop_Sub64, ir_.get(offset(&ThreadWords::pending)),
                          constant(sizeof(PendingCalls::Call)));
    ir_.put(offset(&ThreadWords::pending), last);
    call_out("take_return", reinterpret_cast<void*>(options_.take_return),
             mkIRExprVec_2(IRExpr_GSPTR(), slot),
             ir_.value(Ity_I1, IRExpr_Binop(Iop_CmpNE64, ir_.load(Ity_I64, last), slot)));
  }

  void message(IRExpr* address) {
    name_accesses();
    call_out("take_message", reinterpret_cast<void*>(options_.take_message),
             mkIRExprVec_2(IRExpr_GSPTR(), address), nullptr);
    start_list();
  }

  // Calls a function of the tool that uses the thread's words, if the guard holds.
  void call_out(const char* name, void* function, IRExpr** arguments, IRExpr* guard) {
    IRDirty* call = unsafeIRDirty_0_N(0, name, function, arguments);
    if (guard != nullptr) call->guard = guard;
    call->nFxState = 1;
    call->fxState[0] = {.fx = Ifx_Modify,
                        .offset = UShort(words_),
                        .size = UShort(ThreadWords::kSmallBytes),
                        .nRepeats = 0,
                        .repeatLen = 0};
    ir_.add(IRStmt_Dirty(call));
  }

  void put(int offset, IRExpr* data) {
    if (offset != offsetof(VexGuestAMD64State, guest_SSEROUND)) return;
    IRDirty* call = unsafeIRDirty_0_N(
        0, "report_rounding", reinterpret_cast<void*>(options_.report_rounding), mkIRExprVec_0());
    call->guard = ir_.value(Ity_I1, IRExpr_Binop(Iop_CmpNE64, data, constant(0)));
    ir_.add(IRStmt_Dirty(call));
  }

  void dirty(IRStmt* statement) {
    const IRDirty& call = *statement->Ist.Dirty.details;
    if (call.mFx != Ifx_None) {
      const bool stores = call.mFx != Ifx_Read;
      guarded(call.mAddr, uint32_t(call.mSize), stores, call.guard);
    }
    const bool is_cpuid = begins_with(call.cee->name, "amd64g_dirtyhelper_CPUID");
    IRExpr* leaf = is_cpuid ? ir_.get(offsetof(VexGuestAMD64State, guest_RAX)) : nullptr;
    ir_.add(statement);
    if (!is_cpuid) return;
    IRDirty* hide =
        unsafeIRDirty_0_N(0, "hide_fused_multiply", reinterpret_cast<void*>(hide_fused_multiply),
                          mkIRExprVec_2(IRExpr_GSPTR(), leaf));
    hide->nFxState = 1;
    hide->fxState[0] = {.fx = Ifx_Modify,
                        .offset = offsetof(VexGuestAMD64State, guest_RCX),
                        .size = 8,
                        .nRepeats = 0,
                        .repeatLen = 0};
    ir_.add(IRStmt_Dirty(hide));
  }

  // --- accesses ---

  void access(IRExpr* address, uint32_t bytes, bool store) {
    if (now_.skipped || is_constant(address) || is_repeat(address)) return;
    leave(address, bytes, store);
  }

  // Address 0, which no object has, if the guard does not hold.
  void guarded(IRExpr* address, uint32_t bytes, bool store, IRExpr* guard) {
    if (now_.skipped) return;
    last_base_ = IRTemp_INVALID;
    leave(ir_.value(Ity_I64, IRExpr_ITE(guard, address, constant(0))), bytes, store);
  }

  // The state that one instruction saves and restores counts as its first bytes.
  void leave(IRExpr* address, uint32_t bytes, bool store) {
    if (bytes > Word::kMaxAccessBytes) bytes = Word::kMaxAccessBytes;
    if (count_ == 0) collect();
    ir_.put(offset(&ThreadWords::addresses) + int(count_ * sizeof(uint64_t)), address);
    list_[count_++] = {Word::access_tag(log2_of(bytes), store, now_.facts.alignment_class),
                       now_.code};
    if (count_ < kMaxAccesses) return;
    name_accesses();
    start_list();
  }

  // Collects the accesses of the previous superblock, or of this one if it has too many.
  void collect() {
    constexpr int kCounter = offsetof(VexGuestAMD64State, host_EvC_COUNTER);
    IRExpr* counter = ir_.op(Iop_32Uto64, ir_.value(Ity_I32, IRExpr_Get(kCounter, Ity_I32)));
    IRExpr* from = ir_.get(offset(&ThreadWords::collect_at));
    call_out("collect", reinterpret_cast<void*>(options_.collect), mkIRExprVec_1(IRExpr_GSPTR()),
             ir_.value(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, counter, from)));
  }

  // Names the accesses stored so far, before an event or exit that depends on them.
  void name_accesses() {
    if (count_ == named_) return;
    IRConst* name = IRConst_U64(count_);  // their list's index is not known yet
    if (names_ < kMaxNames) unresolved_[names_++] = name;
    ir_.put(offset(&ThreadWords::accesses), IRExpr_Const(name));
    named_ = count_;
  }

  void start_list() {
    resolve_names();
    count_ = named_ = 0;
  }

  void resolve_names() {
    const uint32_t place = count_ == 0 ? 0 : lists_.add(list_, count_);
    for (uint32_t at = 0; at < names_; ++at) {
      const auto count = uint32_t(unresolved_[at]->Ico.U64);
      unresolved_[at]->Ico.U64 = place == 0 ? 0 : AccessLists::name(place, count);
    }
    names_ = 0;
  }

  // Memory at a constant address is not a heap object.
  bool is_constant(const IRExpr* address) const {
    return address->tag == Iex_Const && !options_.all_accesses;
  }

  // An access through the register of the previous one is to the same object, so it adds no
  // macro-level access.
  bool is_repeat(const IRExpr* address) {
    if (options_.exact || options_.all_accesses) return false;
    const IRTemp base = base_of(address);
    const bool same = base != IRTemp_INVALID && base == last_base_;
    last_base_ = base;
    return same && now_.facts.alignment_class == 0;
  }

  // The temporary to which a constant was added; the address itself if it is no such sum.
  IRTemp base_of(const IRExpr* address) const {
    if (!is_temporary(address)) return IRTemp_INVALID;
    const IRTemp temporary = address->Iex.RdTmp.tmp;
    for (int at = at_; at-- > 0;) {
      const IRStmt* statement = in_->stmts[at];
      if (statement->tag != Ist_WrTmp || statement->Ist.WrTmp.tmp != temporary) continue;
      const IRExpr* data = statement->Ist.WrTmp.data;
      const bool sum = data->tag == Iex_Binop && data->Iex.Binop.op == Iop_Add64 &&
                       is_temporary(data->Iex.Binop.arg1) && data->Iex.Binop.arg2->tag == Iex_Const;
      return sum ? data->Iex.Binop.arg1->Iex.RdTmp.tmp : temporary;
    }
    return temporary;
  }

  uint32_t bytes_of(const IRExpr* data) const {
    return uint32_t(sizeofIRType(typeOfIRExpr(in_->tyenv, data)));
  }

  static uint32_t guarded_bytes(const IRLoadG& load) {
    IRType result, loaded;
    typeOfIRLoadGOp(load.cvt, &result, &loaded);
    return uint32_t(sizeofIRType(loaded));
  }

  template <class Member>
  int offset(Member ThreadWords::* member) const {
    const ThreadWords* none = nullptr;
    return words_ + int(reinterpret_cast<uint64_t>(&(none->*member)));
  }

  // At most one exit for each instruction, and the end.
  static constexpr uint32_t kMaxNames = 128;

  const Translation& options_;
  AccessLists& lists_;
  IRSB* in_;
  IrBuilder ir_;
  const int words_;
  const VexGuestLayout& layout_;
  const uint64_t outer_return_;
  uint64_t inner_return_ = 0;
  uint64_t uncounted_ = 0;  // instructions
  int at_ = 0;              // the current statement
  Current now_;
  AccessLists::Access list_[kMaxAccesses];
  uint32_t count_ = 0, named_ = 0;
  IRConst* unresolved_[kMaxNames];
  uint32_t names_ = 0;
  IRTemp last_base_ = IRTemp_INVALID;
};

}  // namespace

IRSB* Translation::instrument(IRSB* in, const VexGuestLayout& layout, AccessLists& lists,
                              uint64_t outer_return) const {
  IRSB* out = deepCopyIRSBExceptStmts(in);
  Superblock(*this, lists, in, out, layout, outer_return).instrument();
  return out;
}

}  // namespace halo::valgrind
