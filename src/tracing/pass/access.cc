#include "tracing/pass/access.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

namespace halo::pass {
namespace {

using trace::SiteKind;

bool is_the_programs(const llvm::Value* pointer) {
  if (pointer->getType()->getPointerAddressSpace() != 0 || pointer->isSwiftError()) return false;
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer->stripInBoundsOffsets());
  if (!global) return true;
  const llvm::StringRef section = global->getSection();
  return !section.starts_with("halo_") && !section.starts_with("__llvm_") &&
         section != "llvm.metadata";
}

uint64_t fixed_size(const llvm::Instruction& at, llvm::Type* type) {
  const llvm::TypeSize size = at.getDataLayout().getTypeStoreSize(type);
  return size.isScalable() ? 0 : size.getFixedValue();
}

// Only the alignment that the processor checks: a vector's, if the code may rely on it.
uint8_t demanded_alignment(uint64_t size, llvm::Align alignment) {
  const bool wide = size == 16 || size == 32 || size == 64;
  return wide && alignment.value() >= size ? static_cast<uint8_t>(llvm::Log2(llvm::Align(size)))
                                           : uint8_t{0};
}

Access plain(llvm::Instruction& at, SiteKind kind, llvm::Value* pointer, llvm::Value* value,
             llvm::Type* type, llvm::Align alignment) {
  const uint64_t size = fixed_size(at, type);
  const bool vector = type->isVectorTy() || type->isAggregateType();
  return {&at,     kind,    pointer, value,
          nullptr, nullptr, size,    vector ? demanded_alignment(size, alignment) : uint8_t{0}};
}

Access range(llvm::Instruction& at, SiteKind kind, llvm::Value* pointer, llvm::Value* length,
             llvm::MaybeAlign alignment) {
  const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(length);
  const uint64_t size = fixed && fixed->getValue().ult(UINT16_MAX) ? fixed->getZExtValue() : 0;
  const llvm::Align known = alignment.valueOrOne();
  return {
      &at,    kind,    pointer, nullptr,
      length, nullptr, size,    known >= 16 ? static_cast<uint8_t>(llvm::Log2(known)) : uint8_t{0}};
}

bool is_empty(const llvm::Value* length) {
  const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(length);
  return fixed && fixed->isZero();
}

void add_copy(std::vector<Access>& found, llvm::CallBase& call, llvm::Value* length) {
  if (is_empty(length)) return;
  found.push_back(
      range(call, SiteKind::kReadRange, call.getArgOperand(1), length, call.getParamAlign(1)));
  found.push_back(
      range(call, SiteKind::kWriteRange, call.getArgOperand(0), length, call.getParamAlign(0)));
}

void add_fill(std::vector<Access>& found, llvm::CallBase& call, llvm::Value* length) {
  if (is_empty(length)) return;
  found.push_back(
      range(call, SiteKind::kWriteRange, call.getArgOperand(0), length, call.getParamAlign(0)));
}

// Vectors with a mask of accessed elements; of a gather or scatter each element separately.
void add_masked(std::vector<Access>& found, llvm::IntrinsicInst& call, bool load, bool each) {
  llvm::Value* pointer = call.getArgOperand(load ? 0 : 1);
  llvm::Value* value = load ? nullptr : call.getArgOperand(0);
  llvm::Type* type = load ? call.getType() : value->getType();
  const auto* alignment = llvm::cast<llvm::ConstantInt>(call.getArgOperand(load ? 1 : 2));
  Access access = plain(call, load ? SiteKind::kLoad : SiteKind::kStore, pointer, value,
                        each ? type->getScalarType() : type,
                        llvm::Align(std::max<uint64_t>(1, alignment->getZExtValue())));
  access.mask = call.getArgOperand(load ? 2 : 3);
  if (!each || llvm::isa<llvm::FixedVectorType>(type)) found.push_back(access);
}

void add_intrinsic(std::vector<Access>& found, llvm::IntrinsicInst& call) {
  if (auto* copy = llvm::dyn_cast<llvm::AnyMemTransferInst>(&call))
    return add_copy(found, call, copy->getLength());
  if (auto* fill = llvm::dyn_cast<llvm::AnyMemSetInst>(&call))
    return add_fill(found, call, fill->getLength());
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
      return add_masked(found, call, true, false);
    case llvm::Intrinsic::masked_store:
      return add_masked(found, call, false, false);
    case llvm::Intrinsic::masked_gather:
      return add_masked(found, call, true, true);
    case llvm::Intrinsic::masked_scatter:
      return add_masked(found, call, false, true);
    default:
      return;
  }
}

// The C library's functions, if they are called as such.
void add_call(std::vector<Access>& found, llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || callee->arg_size() < 3 || !callee->getArg(0)->getType()->isPointerTy() ||
      !callee->getArg(2)->getType()->isIntegerTy())
    return;
  const llvm::StringRef name = callee->getName();
  const auto is_any_of = [&](std::initializer_list<llvm::StringRef> names) {
    return llvm::is_contained(names, name);
  };
  if (is_any_of({"memcpy", "memmove", "mempcpy", "__memcpy_chk", "__memmove_chk", "__mempcpy_chk"}))
    add_copy(found, call, call.getArgOperand(2));
  else if (is_any_of({"memset", "__memset_chk"}))
    add_fill(found, call, call.getArgOperand(2));
}

// Structures passed by value on the stack: the caller copies them.
void add_copied_arguments(std::vector<Access>& found, llvm::CallBase& call) {
  for (unsigned number = 0; number < call.arg_size(); ++number) {
    if (!call.isByValArgument(number)) continue;
    const uint64_t size = fixed_size(call, call.getParamByValType(number));
    auto* length = llvm::ConstantInt::get(llvm::Type::getInt64Ty(call.getContext()), size);
    if (size)
      found.push_back(range(call, SiteKind::kReadRange, call.getArgOperand(number), length,
                            llvm::MaybeAlign()));
  }
}

std::vector<Access> all_accesses_of(llvm::Instruction& at) {
  std::vector<Access> found;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
    found.push_back(plain(at, SiteKind::kLoad, load->getPointerOperand(), nullptr, load->getType(),
                          load->getAlign()));
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
    llvm::Value* value = store->getValueOperand();
    found.push_back(plain(at, SiteKind::kStore, store->getPointerOperand(), value, value->getType(),
                          store->getAlign()));
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
    found.push_back(plain(at, SiteKind::kUpdate, update->getPointerOperand(), nullptr,
                          update->getType(), llvm::Align(1)));
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
    found.push_back(plain(at, SiteKind::kUpdate, exchange->getPointerOperand(), nullptr,
                          exchange->getNewValOperand()->getType(), llvm::Align(1)));
  } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&at)) {
    add_intrinsic(found, *intrinsic);
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&at)) {
    add_call(found, *call);
    add_copied_arguments(found, *call);
  }
  return found;
}

}  // namespace

std::vector<Access> accesses_of(llvm::Instruction& instruction) {
  std::vector<Access> found = all_accesses_of(instruction);
  std::erase_if(found, [](const Access& access) { return !is_the_programs(access.pointer); });
  return found;
}

}  // namespace halo::pass
