#include "tracing/pass/hinting.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "tidy/include/halo/tidy_rules.h"
#include "tracing/pass/birth_values.h"
#include "tracing/pass/members.h"
#include "tracing/pass/places.h"
#include "tracing/pass/rule_calls.h"
#include "tracing/pass/type_names.h"

namespace halo::pass {
namespace {

constexpr const char* kServed[] = {"malloc", "_Znwm"};

// An allocation, and the code that computes the values of its rule.
struct Hinted {
  llvm::CallBase* call;
  const TypeRule* rule;
  std::unique_ptr<llvm::BasicBlock> code;
  llvm::SmallVector<llvm::Value*, 3> values;
};

class Rewriter {
 public:
  Rewriter(llvm::Module& module, const HintRules& rules, TypeNames& names)
      : rules_(rules), names_(names), calls_(module, rules.fingerprint()) {}

  bool rewrite(llvm::Function& function) {
    llvm::SmallVector<Hinted> found = hinted_in(function);
    if (found.empty()) return false;
    llvm::Value* const array = values_array(function, found);
    for (Hinted& one : found) split(one, array);
    return true;
  }

 private:
  // All of the function's, before any is rewritten: rewriting changes the blocks.
  llvm::SmallVector<Hinted> hinted_in(llvm::Function& function) {
    llvm::SmallVector<Hinted> found;
    Places places(function, names_);
    std::optional<llvm::DominatorTree> dominators;
    for (llvm::Instruction& at : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&at);
      const TypeRule* const rule = call == nullptr ? nullptr : rule_for(places, *call);
      if (rule == nullptr) continue;
      if (!dominators) dominators.emplace(function);
      if (auto hinted = hint(*call, *rule, *dominators)) found.push_back(std::move(*hinted));
    }
    return found;
  }

  const TypeRule* rule_for(Places& places, const llvm::CallBase& call) {
    const llvm::Function* const callee = call.getCalledFunction();
    if (callee == nullptr || !callee->isDeclaration() || !is_allocator(*callee)) return nullptr;
    if (!llvm::isa<llvm::CallInst, llvm::InvokeInst>(call)) return nullptr;
    // An explicit call of operator new, or a file in which malloc may be anything.
    const bool is_any = call.getAttributes().hasFnAttr(llvm::Attribute::NoBuiltin) ||
                        callee->hasFnAttribute(llvm::Attribute::NoBuiltin);
    if (is_any && !call.hasFnAttr(llvm::Attribute::Builtin)) return nullptr;
    if (call.isMustTailCall()) return nullptr;
    const uint64_t size = bytes_allocated(call);
    if (size == 0 || size > TIDY_RULE_MAX_BYTES) return nullptr;
    const Place place = places.of(&call);
    const llvm::DIType* const type = place.offset == 0 ? place.type : nullptr;
    if (type == nullptr || size != bytes_of(type)) return nullptr;
    return rules_.find(names_.name(as_class(type) ? strip(type) : type));
  }

  // 0 if it is not constant.
  static uint64_t bytes_allocated(const llvm::CallBase& call) {
    const auto* const size = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    return size == nullptr ? 0 : size->getZExtValue();
  }

  // void* (size_t), which a declaration of that name need not be.
  static bool is_allocator(const llvm::Function& callee) {
    const llvm::FunctionType* const type = callee.getFunctionType();
    return llvm::is_contained(kServed, callee.getName()) && !type->isVarArg() &&
           type->getNumParams() == 1 && type->getParamType(0)->isIntegerTy(64) &&
           type->getReturnType()->isPointerTy();
  }

  static std::optional<Hinted> hint(llvm::CallBase& call, const TypeRule& rule,
                                    const llvm::DominatorTree& dominators) {
    BirthValues births(call, dominators);
    Hinted made{&call, &rule, nullptr, {}};
    for (const KeyRule& key : rule.keys) {
      llvm::Value* const value = births.value_at(key.offset, key.stored_bytes());
      if (value == nullptr) return std::nullopt;
      made.values.push_back(value);
    }
    made.code = births.take_code();
    return made;
  }

  // One for all allocations of a function, of which one is served at a time.
  static llvm::Value* values_array(llvm::Function& function, llvm::ArrayRef<Hinted> found) {
    size_t most = 0;
    for (const Hinted& one : found) most = std::max(most, one.values.size());
    llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
    return entry.CreateAlloca(llvm::ArrayType::get(entry.getInt64Ty(), most), nullptr,
                              "halo.values");
  }

  // Before the call: reserve a block. If Tidy has one, the code of the values runs and the object
  // is placed; otherwise the call. Both ways meet behind the call.
  void split(Hinted& one, llvm::Value* array) {
    llvm::CallBase& call = *one.call;
    const AllocatedBy by{one.rule, bytes_allocated(call), call.getCalledFunction()};
    llvm::BasicBlock* const before = call.getParent();
    llvm::BasicBlock* const plain = before->splitBasicBlock(call.getIterator(), "halo.plain");
    llvm::BasicBlock* const behind = block_behind(call);

    llvm::IRBuilder<> builder(before->getTerminator());
    builder.SetCurrentDebugLocation(call.getDebugLoc());
    llvm::Value* const reserved = calls_.reserve(builder, by);
    llvm::BasicBlock* const hinted = one.code.release();
    hinted->insertInto(call.getFunction(), plain);
    builder.CreateCondBr(builder.CreateIsNotNull(reserved), hinted, plain);
    before->getTerminator()->eraseFromParent();

    builder.SetInsertPoint(hinted);
    for (unsigned at = 0; at < one.values.size(); ++at)
      builder.CreateStore(one.values[at],
                          builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), array, at));
    llvm::Value* const placed = calls_.place(builder, by, reserved, array);
    builder.CreateBr(behind);

    builder.SetInsertPoint(behind, behind->begin());
    llvm::PHINode* const object = builder.CreatePHI(call.getType(), 2);
    call.replaceAllUsesWith(object);
    object->addIncoming(placed, hinted);
    object->addIncoming(&call, plain);
    object->takeName(&call);
  }

  // A block to which only the call leads.
  static llvm::BasicBlock* block_behind(llvm::CallBase& call) {
    llvm::BasicBlock* const plain = call.getParent();
    auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
    if (invoke == nullptr)
      return plain->splitBasicBlock(std::next(call.getIterator()), "halo.behind");
    llvm::BasicBlock* const next = invoke->getNormalDest();
    auto* const behind =
        llvm::BasicBlock::Create(call.getContext(), "halo.behind", call.getFunction(), next);
    llvm::BranchInst::Create(next, behind)->setDebugLoc(call.getDebugLoc());
    next->replacePhiUsesWith(plain, behind);
    invoke->setNormalDest(behind);
    return behind;
  }

  const HintRules& rules_;
  TypeNames& names_;
  RuleCalls calls_;
};

}  // namespace

bool place_by_hints(llvm::Module& module, const HintRules& rules) {
  llvm::DebugInfoFinder types;
  types.processModule(module);
  TypeNames names(types);
  Rewriter rewriter(module, rules, names);
  bool changed = false;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) changed |= rewriter.rewrite(function);
  return changed;
}

}  // namespace halo::pass
