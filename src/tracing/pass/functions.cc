#include "tracing/pass/functions.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdlib>

namespace halo::pass {
namespace {

// The arguments that the calling convention of x86-64 passes in registers.
constexpr unsigned kIntegerRegisters = 6;
constexpr unsigned kVectorRegisters = 8;

bool resolves_ifunc(const llvm::Function& function) {
  for (const llvm::GlobalIFunc& ifunc : function.getParent()->ifuncs())
    if (ifunc.getResolverFunction() == &function) return true;
  return false;
}

bool fits_registers(const llvm::CallBase& call) {
  unsigned integers = 0;
  unsigned vectors = 0;
  for (unsigned number = 0; number < call.arg_size(); ++number) {
    if (call.isByValArgument(number) || call.paramHasAttr(number, llvm::Attribute::InAlloca))
      return false;
    const llvm::Type* type = call.getArgOperand(number)->getType();
    if (type->isX86_FP80Ty()) return false;
    if (type->isFloatingPointTy() || type->isVectorTy())
      ++vectors;
    else
      integers += type->isIntegerTy(128) ? 2 : 1;
  }
  return integers <= kIntegerRegisters && vectors <= kVectorRegisters;
}

// Such a function restores its frame at its end, so its calls remain calls.
bool realigns_stack(const llvm::Function& function) {
  for (const llvm::Instruction& at : function.getEntryBlock())
    if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&at))
      if (local->getAlign() > llvm::Align(16)) return true;
  return false;
}

bool is_nothing(const llvm::Instruction& instruction) {
  if (instruction.isDebugOrPseudoInst()) return true;
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!intrinsic) return false;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
      return true;
    default:
      return false;
  }
}

// The last call of a block if nothing but its terminator follows.
llvm::CallInst* last_call(llvm::BasicBlock& block) {
  for (llvm::Instruction* at = block.getTerminator()->getPrevNode(); at; at = at->getPrevNode()) {
    if (is_nothing(*at) || llvm::isa<llvm::BitCastInst>(at)) continue;
    auto* call = llvm::dyn_cast<llvm::CallInst>(at);
    return call && !llvm::isa<llvm::IntrinsicInst>(call) ? call : nullptr;
  }
  return nullptr;
}

bool returns_result(const llvm::ReturnInst& end, const llvm::CallInst& call) {
  const llvm::Value* value = end.getReturnValue();
  return !value || llvm::isa<llvm::UndefValue>(value) || value->stripPointerCasts() == &call ||
         (call.getReturnedArgOperand() && call.getReturnedArgOperand() == value);
}

// The returned value if control comes from this block.
llvm::Value* value_from(const llvm::ReturnInst& end, const llvm::BasicBlock& block) {
  llvm::Value* value = end.getReturnValue();
  auto* merge = llvm::dyn_cast_or_null<llvm::PHINode>(value);
  return merge && merge->getParent() == end.getParent() ? merge->getIncomingValueForBlock(&block)
                                                        : value;
}

bool is_only_return(llvm::BasicBlock& block) {
  for (llvm::Instruction& at : block)
    if (!llvm::isa<llvm::ReturnInst>(at) && !is_nothing(at) &&
        !(llvm::isa<llvm::PHINode>(at) &&
          llvm::cast<llvm::ReturnInst>(block.getTerminator())->getReturnValue() == &at))
      return false;
  return true;
}

void part(llvm::ReturnInst& end, llvm::BasicBlock& from) {
  auto* way = llvm::dyn_cast<llvm::BranchInst>(from.getTerminator());
  if (!way || way->isConditional()) return;
  llvm::CallInst* call = last_call(from);
  llvm::Value* value = value_from(end, from);
  if (!call || !may_become_jump(*call) || (value && value != call)) return;
  if (!value && !call->use_empty()) return;
  auto* own = llvm::ReturnInst::Create(end.getContext(), value, way->getIterator());
  own->setDebugLoc(end.getDebugLoc());
  end.getParent()->removePredecessor(&from, true);
  way->eraseFromParent();
}

}  // namespace

bool is_instrumented(const llvm::Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(llvm::Attribute::Naked) &&
         !function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation) &&
         function.getCallingConv() != llvm::CallingConv::X86_INTR && !resolves_ifunc(function);
}

std::string readable(llvm::StringRef linkage_name) {
  const std::string mangled = linkage_name.str();  // the demangler's tree refers to it
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(mangled.c_str()) || !demangler.isFunction())
    return llvm::demangle(mangled);
  char* name = demangler.getFunctionName(nullptr, nullptr);
  std::string text = name ? name : mangled;
  std::free(name);
  return text;
}

std::string readable(const llvm::DISubprogram* program) {
  return program->getLinkageName().empty() ? program->getName().str()
                                           : readable(program->getLinkageName());
}

bool may_become_jump(const llvm::CallBase& call) {
  const auto* plain = llvm::dyn_cast<llvm::CallInst>(&call);
  if (!plain) return false;
  if (plain->isMustTailCall()) return true;
  const llvm::Function* caller = call.getFunction();
  return plain->isTailCall() && !plain->isNoTailCall() && !plain->isInlineAsm() &&
         caller->getFnAttribute("disable-tail-calls").getValueAsString() != "true" &&
         caller->getCallingConv() == call.getCallingConv() && !caller->hasStructRetAttr() &&
         !call.hasStructRetAttr() && fits_registers(call) && !realigns_stack(*caller);
}

void part_returns(llvm::Function& function) {
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (!end || block.isEntryBlock() || block.hasAddressTaken() || !is_only_return(block)) continue;
    const llvm::SmallVector<llvm::BasicBlock*> sources(llvm::predecessors(&block));
    for (llvm::BasicBlock* source : sources) part(*end, *source);
    if (llvm::pred_empty(&block)) llvm::DeleteDeadBlock(&block);
  }
}

std::vector<llvm::Instruction*> exits_of(llvm::Function& function) {
  std::vector<llvm::Instruction*> exits;
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* end = block.getTerminator();
    if (llvm::isa<llvm::ResumeInst>(end)) exits.push_back(end);
    auto* leave = llvm::dyn_cast<llvm::ReturnInst>(end);
    if (!leave) continue;
    llvm::CallInst* call = last_call(block);
    const bool jump = call && may_become_jump(*call) && returns_result(*leave, *call);
    exits.push_back(jump ? static_cast<llvm::Instruction*>(call) : end);
  }
  return exits;
}

}  // namespace halo::pass
