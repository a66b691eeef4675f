#include "tracing/pass/pointers.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "tracing/pass/members.h"

namespace halo::pass {

bool is_base_offset(const llvm::Value* index) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(index);
  if (!load) return false;
  llvm::APInt offset(64, 0);
  const llvm::Value* table = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
      load->getDataLayout(), offset, /*AllowNonInbounds=*/true);
  return offset.isNegative() && llvm::isa<llvm::LoadInst>(table);
}

bool passes_through(const llvm::CallBase& call) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  if (!intrinsic) return false;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::threadlocal_address:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
    case llvm::Intrinsic::ptrmask:
    case llvm::Intrinsic::ssa_copy:
      return true;
    default:
      return false;
  }
}

const llvm::DIType* type_in(const llvm::DISubprogram* program, unsigned position) {
  if (!program || !program->getType()) return nullptr;
  const llvm::DITypeRefArray types = program->getType()->getTypeArray();
  return position < types.size() ? types[position] : nullptr;
}

const llvm::DIType* parameter_type(const llvm::CallBase& call, unsigned position) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee ? type_in(callee->getSubprogram(), position) : nullptr;
}

bool is_reference(const llvm::DIType* type) {
  const llvm::DIType* plain = strip(type);
  return plain && (plain->getTag() == llvm::dwarf::DW_TAG_reference_type ||
                   plain->getTag() == llvm::dwarf::DW_TAG_rvalue_reference_type);
}

}  // namespace halo::pass
