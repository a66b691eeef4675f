#include "tracing/pass/tags.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>

namespace halo::pass {
namespace {

llvm::StringRef name_of(const llvm::Metadata* type) {
  const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(type);
  if (!node || node->getNumOperands() == 0) return {};
  const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(0));
  return name ? name->getString() : llvm::StringRef();
}

}  // namespace

Tag tag_of(const llvm::Instruction& instruction) {
  const llvm::MDNode* tag = instruction.getMetadata(llvm::LLVMContext::MD_tbaa);
  if (!tag || tag->getNumOperands() < 3) return {};
  const llvm::Metadata* base = tag->getOperand(0);
  const llvm::Metadata* access = tag->getOperand(1);
  const auto* offset = llvm::mdconst::dyn_extract<llvm::ConstantInt>(tag->getOperand(2));
  if (!offset) return {};
  if (base == access) return {{}, 0, name_of(access)};
  return {name_of(base), offset->getSExtValue(), name_of(access)};
}

}  // namespace halo::pass
