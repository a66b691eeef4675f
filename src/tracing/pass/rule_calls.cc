#include "tracing/pass/rule_calls.h"

#include <llvm/Support/xxhash.h>

#include "tidy/include/halo/tidy_rules.h"

namespace halo::pass {

llvm::CallInst* RuleCalls::reserve(llvm::IRBuilder<>& builder, const AllocatedBy& by) {
  auto* const pointer = builder.getPtrTy();
  auto* const type = llvm::FunctionType::get(pointer, {pointer}, false);
  llvm::CallInst* const made =
      builder.CreateCall(module_.getOrInsertFunction("tidy_reserve", type), {constant(by)});
  made->setDoesNotThrow();
  return made;
}

llvm::CallInst* RuleCalls::place(llvm::IRBuilder<>& builder, const AllocatedBy& by,
                                 llvm::Value* reserved, llvm::Value* values) {
  auto* const pointer = builder.getPtrTy();
  auto* const type = llvm::FunctionType::get(pointer, {pointer, pointer, pointer}, false);
  llvm::CallInst* const made = builder.CreateCall(module_.getOrInsertFunction("tidy_place", type),
                                                  {constant(by), reserved, values});
  made->setDoesNotThrow();
  return made;
}

llvm::Constant* RuleCalls::variable(llvm::Constant* content, const char* name, bool is_constant) {
  return new llvm::GlobalVariable(module_, content->getType(), is_constant,
                                  llvm::GlobalValue::PrivateLinkage, content, name);
}

// The rule as a constant of the type tidy_rule_t.
llvm::Constant* RuleCalls::constant(const AllocatedBy& by) {
  llvm::Constant*& known = made_[{by.rule, by.bytes, by.allocator}];
  if (known != nullptr) return known;
  auto* const number = llvm::Type::getInt32Ty(context_);
  auto* const word = llvm::Type::getInt64Ty(context_);
  llvm::Constant* const context = context_variable(*by.rule);
  auto* const none = llvm::Constant::getNullValue(llvm::PointerType::getUnqual(context_));
  known = variable(llvm::ConstantStruct::getAnon(
                       {functions(*by.allocator), context, variable(none, "halo.spare", false),
                        llvm::ConstantInt::get(word, llvm::xxHash64(context->getName()) ^ hints_),
                        llvm::ConstantInt::get(number, by.bytes),
                        llvm::ConstantInt::get(number, by.rule->keys.size()), keys(*by.rule)}),
                   "halo.rule", true);
  return known;
}

// A constant of the type tidy_functions_t: the allocator, and what frees its blocks, as this file
// calls them.
llvm::Constant* RuleCalls::functions(llvm::Function& allocator) {
  llvm::Constant*& known = functions_[&allocator];
  if (known != nullptr) return known;
  auto* const pointer = llvm::PointerType::getUnqual(context_);
  auto* const nothing = llvm::Type::getVoidTy(context_);
  auto* const size = llvm::Type::getInt64Ty(context_);
  const auto declared = [&](const char* name, llvm::ArrayRef<llvm::Type*> parameters) {
    auto* const type = llvm::FunctionType::get(nothing, parameters, false);
    return llvm::cast<llvm::Constant>(module_.getOrInsertFunction(name, type).getCallee());
  };
  const bool is_new = allocator.getName() != "malloc";
  llvm::Constant* const release = declared(is_new ? "_ZdlPv" : "free", {pointer});
  llvm::Constant* const sized =
      is_new ? declared("_ZdlPvm", {pointer, size}) : llvm::Constant::getNullValue(pointer);
  known =
      variable(llvm::ConstantStruct::getAnon({&allocator, release, sized}), "halo.functions", true);
  return known;
}

llvm::Constant* RuleCalls::keys(const TypeRule& rule) {
  auto* const number = llvm::Type::getInt32Ty(context_);
  auto* const real = llvm::Type::getDoubleTy(context_);
  auto* const type = llvm::StructType::get(context_, {real, number, number});
  llvm::SmallVector<llvm::Constant*> found;
  for (const KeyRule& key : rule.keys)
    found.push_back(llvm::ConstantStruct::get(
        type, llvm::ConstantFP::get(real, key.width), llvm::ConstantInt::get(number, key.kind),
        llvm::ConstantInt::getSigned(number, key.behind ? static_cast<int>(*key.behind) : -1)));
  found.resize(TIDY_MAX_DIMENSIONS, llvm::Constant::getNullValue(type));
  return llvm::ConstantArray::get(llvm::ArrayType::get(type, TIDY_MAX_DIMENSIONS), found);
}

// One variable for all files of a program or library that have equally many keys for the context.
llvm::Constant* RuleCalls::context_variable(const TypeRule& rule) {
  const std::string name =
      "halo.tidy.context." + std::to_string(rule.context) + "." + std::to_string(rule.keys.size());
  if (llvm::GlobalVariable* known = module_.getNamedGlobal(name)) return known;
  auto* const pointer = llvm::PointerType::getUnqual(context_);
  auto* const made =
      new llvm::GlobalVariable(module_, pointer, false, llvm::GlobalValue::WeakODRLinkage,
                               llvm::Constant::getNullValue(pointer), name);
  made->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return made;
}

}  // namespace halo::pass
