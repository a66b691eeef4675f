#include "tracing/pass/module_note.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "tracing/format/site.h"

namespace halo::pass {
namespace {

// Before all constructors that a program can request, and so after all of its destructors.
constexpr int kPriority = 0;

void share(llvm::Module& module, llvm::GlobalObject& object) {
  object.setVisibility(llvm::GlobalValue::HiddenVisibility);
  object.setComdat(module.getOrInsertComdat(object.getName()));
}

// The linker defines it; weak, since the section may be missing.
llvm::Constant* bound(llvm::Module& module, const std::string& prefix, const char* section) {
  auto* symbol =
      new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), true,
                               llvm::GlobalValue::ExternalWeakLinkage, nullptr, prefix + section);
  symbol->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return symbol;
}

llvm::GlobalVariable* note(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* int16 = llvm::Type::getInt16Ty(context);
  auto* int32 = llvm::Type::getInt32Ty(context);
  llvm::SmallVector<llvm::Constant*> fields = {llvm::ConstantInt::get(int16, trace::kSiteVersion),
                                               llvm::ConstantInt::get(int16, sizeof(trace::Site)),
                                               llvm::ConstantInt::get(int32, 0)};
  for (const char* section : {trace::kSiteSection, trace::kTypeSection, trace::kStringSection}) {
    fields.push_back(bound(module, "__start_", section));
    fields.push_back(bound(module, "__stop_", section));
  }
  auto* value = llvm::ConstantStruct::getAnon(fields);
  auto* variable = new llvm::GlobalVariable(
      module, value->getType(), true, llvm::GlobalValue::LinkOnceODRLinkage, value, kModuleNote);
  share(module, *variable);
  return variable;
}

llvm::Function* calling(llvm::Module& module, const char* name, const char* callee,
                        llvm::GlobalVariable* argument) {
  llvm::LLVMContext& context = module.getContext();
  auto* nothing = llvm::Type::getVoidTy(context);
  auto* function = llvm::Function::createWithDefaultAttr(llvm::FunctionType::get(nothing, false),
                                                         llvm::GlobalValue::LinkOnceODRLinkage, 0,
                                                         name, &module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  share(module, *function);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  const llvm::FunctionCallee target = module.getOrInsertFunction(
      callee, llvm::FunctionType::get(nothing, {builder.getPtrTy()}, false));
  builder.CreateCall(target, {argument});
  builder.CreateRetVoid();
  return function;
}

}  // namespace

void add_module_note(llvm::Module& module) {
  llvm::GlobalVariable* described = note(module);
  auto* begin = calling(module, "halo_module_begins_v1", "halo_log_module_v1", described);
  auto* end = calling(module, "halo_module_ends_v1", "halo_log_module_gone_v1", described);
  // The entries of the arrays belong to the functions' groups: they are kept and dropped together.
  llvm::appendToGlobalCtors(module, begin, kPriority, begin);
  llvm::appendToGlobalDtors(module, end, kPriority, end);
}

}  // namespace halo::pass
