#include "tracing/pass/words.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>

namespace halo::pass {
namespace {

llvm::Value* first_element(llvm::IRBuilderBase& builder, llvm::Value* value) {
  if (value->getType()->isVectorTy()) return builder.CreateExtractElement(value, uint64_t{0});
  return builder.CreateExtractValue(value, 0);
}

bool is_hollow(llvm::Type* type) {
  if (const auto* structure = llvm::dyn_cast<llvm::StructType>(type))
    return structure->getNumElements() == 0;
  const auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
  return array && array->getNumElements() == 0;
}

}  // namespace

llvm::Value* to_word(llvm::IRBuilderBase& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  llvm::IntegerType* word = builder.getInt64Ty();
  if (type->isPointerTy()) return builder.CreatePtrToInt(value, word);
  if (type->isIntegerTy()) return builder.CreateZExtOrTrunc(value, word);
  if (llvm::isa<llvm::ScalableVectorType>(type) || type->isX86_AMXTy() || type->isTargetExtTy() ||
      is_hollow(type))
    return builder.getInt64(0);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (type->isAggregateType() || (vector && vector->getElementType()->isPointerTy()))
    return to_word(builder, first_element(builder, value));
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  if (bits == 0) return builder.getInt64(0);
  return builder.CreateZExtOrTrunc(builder.CreateBitCast(value, builder.getIntNTy(bits)), word);
}

}  // namespace halo::pass
