#include "tracing/pass/choices.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

namespace halo::pass {
namespace {

constexpr size_t kMax = 8;
constexpr int kMaxDepth = 6;

using Choices = std::vector<llvm::APInt>;

Choices choices(const llvm::Value* value, int depth);

Choices united(const llvm::User* merge, unsigned first, int depth) {
  Choices all;
  for (unsigned number = first; number < merge->getNumOperands(); ++number) {
    const Choices some = choices(merge->getOperand(number), depth);
    if (some.empty() || all.size() + some.size() > kMax) return {};
    for (const llvm::APInt& one : some)
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
  return all;
}

Choices cast(const llvm::CastInst* cast, int depth) {
  const unsigned bits = cast->getType()->getScalarSizeInBits();
  Choices all = choices(cast->getOperand(0), depth);
  for (llvm::APInt& one : all) {
    switch (cast->getOpcode()) {
      case llvm::Instruction::ZExt:
        one = one.zext(bits);
        break;
      case llvm::Instruction::SExt:
        one = one.sext(bits);
        break;
      case llvm::Instruction::Trunc:
        one = one.trunc(bits);
        break;
      default:
        return {};
    }
  }
  return all;
}

// A value of one bit, or one that a mask reduces to one bit.
Choices masked(const llvm::APInt& mask) {
  return mask.popcount() == 1 ? Choices{llvm::APInt::getZero(mask.getBitWidth()), mask} : Choices{};
}

Choices computed(const llvm::BinaryOperator* operation, int depth) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(operation->getOperand(1));
  if (!constant) return {};
  const llvm::APInt& other = constant->getValue();
  Choices all = choices(operation->getOperand(0), depth);
  const auto opcode = operation->getOpcode();
  if (opcode == llvm::Instruction::And && all.empty()) return masked(other);
  for (llvm::APInt& one : all) {
    if (opcode == llvm::Instruction::Add)
      one += other;
    else if (opcode == llvm::Instruction::Sub)
      one -= other;
    else if (opcode == llvm::Instruction::Mul)
      one *= other;
    else if (opcode == llvm::Instruction::Or)
      one |= other;
    else if (opcode == llvm::Instruction::Xor)
      one ^= other;
    else if (opcode == llvm::Instruction::And)
      one &= other;
    else if (opcode == llvm::Instruction::Shl)
      one <<= other;
    else
      return {};
  }
  return all;
}

Choices choices(const llvm::Value* value, int depth) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
    return {constant->getValue()};
  if (!value->getType()->isIntegerTy() || depth == 0) return {};
  Choices found;
  if (llvm::isa<llvm::PHINode>(value)) found = united(llvm::cast<llvm::User>(value), 0, depth - 1);
  if (llvm::isa<llvm::SelectInst>(value))
    found = united(llvm::cast<llvm::User>(value), 1, depth - 1);
  if (const auto* one = llvm::dyn_cast<llvm::CastInst>(value)) found = cast(one, depth - 1);
  if (const auto* one = llvm::dyn_cast<llvm::BinaryOperator>(value))
    found = computed(one, depth - 1);
  if (const auto* one = llvm::dyn_cast<llvm::FreezeInst>(value))
    found = choices(one->getOperand(0), depth - 1);
  if (found.empty() && value->getType()->isIntegerTy(1)) found = masked(llvm::APInt(1, 1));
  return found;
}

}  // namespace

std::vector<llvm::APInt> choices_of(const llvm::Value* value) { return choices(value, kMaxDepth); }

}  // namespace halo::pass
