#include "pass/hinting.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>

#include "pass/birth_values.h"
#include "pass/members.h"
#include "pass/places.h"
#include "pass/type_names.h"
#include "tidy/include/halo/tidy_rules.h"

namespace halo::pass {
namespace {

constexpr const char* kServed[] = {"malloc", "_Znwm"};
constexpr unsigned kBlockAlignment = 8;  // that Tidy's blocks always have

class Rewriter {
 public:
  Rewriter(llvm::Module& module, const HintRules& rules, TypeNames& names)
      : module_(module), rules_(rules), names_(names), context_(module.getContext()) {}

  bool rewrite(llvm::Function& function) {
    Places places(function, names_);
    llvm::SmallVector<std::pair<llvm::CallBase*, const TypeRule*>> found;
    for (llvm::Instruction& at : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&at))
        if (const TypeRule* rule = rule_for(places, *call)) found.push_back({call, rule});
    if (found.empty()) return false;
    // Rewriting leaves the blocks as they are.
    const llvm::DominatorTree dominators(function);
    bool changed = false;
    for (const auto& [call, rule] : found) changed |= rewrite(*call, *rule, dominators);
    return changed;
  }

 private:
  const TypeRule* rule_for(Places& places, const llvm::CallBase& call) {
    const llvm::Function* const callee = call.getCalledFunction();
    if (callee == nullptr || !callee->isDeclaration() || call.arg_size() != 1) return nullptr;
    if (!llvm::is_contained(kServed, callee->getName())) return nullptr;
    if (!llvm::isa<llvm::CallInst, llvm::InvokeInst>(call)) return nullptr;
    const Place place = places.of(&call);
    const llvm::DIType* const type = place.offset == 0 ? place.type : nullptr;
    const auto* const size = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (type == nullptr || size == nullptr || size->getZExtValue() != bytes_of(type))
      return nullptr;
    return rules_.find(names_.name(as_class(type) ? strip(type) : type));
  }

  bool rewrite(llvm::CallBase& call, const TypeRule& rule, const llvm::DominatorTree& dominators) {
    BirthValues births(call, dominators);
    llvm::SmallVector<llvm::Value*, 3> values;
    for (const KeyRule& key : rule.keys) {
      const unsigned bytes = key.behind ? 8 : key.bytes;
      llvm::Value* const value = births.before_allocation(key.offset, bytes);
      if (value == nullptr) return false;
      values.push_back(value);
    }
    llvm::Function& function = *call.getFunction();
    llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
    auto* const word = entry.getInt64Ty();
    auto* const array = entry.CreateAlloca(llvm::ArrayType::get(word, values.size()));
    llvm::IRBuilder<> builder(&call);
    for (unsigned at = 0; at < values.size(); ++at)
      builder.CreateStore(values[at], builder.CreateConstInBoundsGEP1_64(word, array, at));
    lower_alignment(call);
    llvm::Value* const arguments[] = {rule_of(rule), call.getArgOperand(0), array,
                                      call.getCalledOperand()};
    llvm::CallBase* made = nullptr;
    if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
      made = builder.CreateInvoke(allocator(), invoke->getNormalDest(), invoke->getUnwindDest(),
                                  arguments);
    } else {
      made = builder.CreateCall(allocator(), arguments);
    }
    made->setDebugLoc(call.getDebugLoc());
    made->addRetAttr(llvm::Attribute::NoAlias);
    if (call.hasRetAttr(llvm::Attribute::NonNull)) made->addRetAttr(llvm::Attribute::NonNull);
    made->takeName(&call);
    call.replaceAllUsesWith(made);
    call.eraseFromParent();
    return true;
  }

  // The allocator's blocks are multiples of 16 bytes, Tidy's of 8: accesses may rely on that, in
  // this function only.
  static void lower_alignment(llvm::CallBase& call) {
    const auto lower = [](llvm::Align now) { return std::min(now, llvm::Align(kBlockAlignment)); };
    const auto is_within = [&](const llvm::Value* pointer) {
      llvm::SmallVector<const llvm::Value*, 4> bases;
      llvm::getUnderlyingObjects(pointer, bases, nullptr, 0);
      return llvm::is_contained(bases, &call);
    };
    for (llvm::Instruction& at : llvm::instructions(*call.getFunction())) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
        if (is_within(load->getPointerOperand())) load->setAlignment(lower(load->getAlign()));
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
        if (is_within(store->getPointerOperand())) store->setAlignment(lower(store->getAlign()));
      } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&at)) {
        if (is_within(memory->getDest()))
          memory->setDestAlignment(lower(memory->getDestAlign().valueOrOne()));
        auto* const copy = llvm::dyn_cast<llvm::MemTransferInst>(memory);
        if (copy && is_within(copy->getSource()))
          copy->setSourceAlignment(lower(copy->getSourceAlign().valueOrOne()));
      }
    }
  }

  llvm::FunctionCallee allocator() {
    auto* const pointer = llvm::PointerType::getUnqual(context_);
    return module_.getOrInsertFunction("tidy_alloc_by_rule", pointer, pointer,
                                       llvm::Type::getInt64Ty(context_), pointer, pointer);
  }

  // The rule as a constant of the type tidy_rule_t.
  llvm::Constant* rule_of(const TypeRule& rule) {
    llvm::Constant*& known = made_[&rule];
    if (known != nullptr) return known;
    auto* const number = llvm::Type::getInt32Ty(context_);
    auto* const real = llvm::Type::getDoubleTy(context_);
    auto* const pointer = llvm::PointerType::getUnqual(context_);
    auto* const key_type = llvm::StructType::get(context_, {real, number, number});
    llvm::SmallVector<llvm::Constant*> keys;
    for (const KeyRule& key : rule.keys)
      keys.push_back(llvm::ConstantStruct::get(
          key_type, llvm::ConstantFP::get(real, key.width),
          llvm::ConstantInt::get(number, key.kind),
          llvm::ConstantInt::getSigned(number, key.behind ? static_cast<int>(*key.behind) : -1)));
    keys.resize(TIDY_MAX_DIMENSIONS, llvm::Constant::getNullValue(key_type));
    auto* const array = llvm::ArrayType::get(key_type, TIDY_MAX_DIMENSIONS);
    auto* const type = llvm::StructType::get(context_, {pointer, number, number, array});
    auto* const content = llvm::ConstantStruct::get(
        type, context_of(rule.context), llvm::ConstantInt::get(number, rule.keys.size()),
        llvm::ConstantInt::get(number, 0), llvm::ConstantArray::get(array, keys));
    known = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                     content, "halo.rule");
    return known;
  }

  // One variable for all files of a program or library.
  llvm::Constant* context_of(unsigned context) {
    const std::string name = "halo.tidy.context." + std::to_string(context);
    if (llvm::GlobalVariable* known = module_.getNamedGlobal(name)) return known;
    auto* const pointer = llvm::PointerType::getUnqual(context_);
    auto* const made =
        new llvm::GlobalVariable(module_, pointer, false, llvm::GlobalValue::WeakODRLinkage,
                                 llvm::Constant::getNullValue(pointer), name);
    made->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return made;
  }

  llvm::Module& module_;
  const HintRules& rules_;
  TypeNames& names_;
  llvm::LLVMContext& context_;
  llvm::DenseMap<const TypeRule*, llvm::Constant*> made_;
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
