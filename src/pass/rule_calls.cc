#include "pass/rule_calls.h"

#include "tidy/include/halo/tidy_rules.h"

namespace halo::pass {

llvm::FunctionCallee RuleCalls::function(const char* name, llvm::FunctionType* type) {
  llvm::FunctionCallee found = module_.getOrInsertFunction(name, type);
  if (auto* const made = llvm::dyn_cast<llvm::Function>(found.getCallee())) made->setDoesNotThrow();
  return found;
}

llvm::CallInst* RuleCalls::reserve(llvm::IRBuilder<>& builder, const TypeRule& rule,
                                   llvm::Value* size, llvm::Value* allocator) {
  auto* const pointer = builder.getPtrTy();
  auto* const type =
      llvm::FunctionType::get(pointer, {pointer, builder.getInt64Ty(), pointer}, false);
  return builder.CreateCall(function("tidy_reserve", type), {constant(rule), size, allocator});
}

llvm::CallInst* RuleCalls::place(llvm::IRBuilder<>& builder, const TypeRule& rule,
                                 llvm::Value* size, llvm::Value* reserved, llvm::Value* values) {
  auto* const pointer = builder.getPtrTy();
  auto* const type =
      llvm::FunctionType::get(pointer, {pointer, builder.getInt64Ty(), pointer, pointer}, false);
  return builder.CreateCall(function("tidy_place", type), {constant(rule), size, reserved, values});
}

// The rule as a constant of the type tidy_rule_t.
llvm::Constant* RuleCalls::constant(const TypeRule& rule) {
  llvm::Constant*& known = made_[&rule];
  if (known != nullptr) return known;
  auto* const number = llvm::Type::getInt32Ty(context_);
  auto* const pointer = llvm::PointerType::getUnqual(context_);
  auto* const spare =
      new llvm::GlobalVariable(module_, pointer, false, llvm::GlobalValue::PrivateLinkage,
                               llvm::Constant::getNullValue(pointer), "halo.spare");
  llvm::Constant* const all = keys(rule);
  auto* const type =
      llvm::StructType::get(context_, {pointer, pointer, number, number, all->getType()});
  auto* const content = llvm::ConstantStruct::get(type, context_variable(rule), spare,
                                                  llvm::ConstantInt::get(number, rule.keys.size()),
                                                  llvm::ConstantInt::get(number, 0), all);
  known = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage, content,
                                   "halo.rule");
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
