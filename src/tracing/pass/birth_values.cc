#include "tracing/pass/birth_values.h"

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>

#include <limits>

namespace halo::pass {
namespace {

constexpr unsigned kMaxSteps = 400;  // instructions behind the allocation
constexpr unsigned kMaxDepth = 24;   // instructions that compute a value from another

// Whether execution continues behind it, and it neither frees memory nor waits for other threads.
bool continues(const llvm::Instruction& at) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) return load->isSimple();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) return store->isSimple();
  if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&at)) return !memory->isVolatile();
  if (llvm::isa<llvm::DbgInfoIntrinsic, llvm::AssumeInst, llvm::NoAliasScopeDeclInst>(at))
    return true;
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&at))
    return intrinsic->isLifetimeStartOrEnd() || intrinsic->doesNotAccessMemory();
  return !llvm::isa<llvm::CallBase>(at) && !at.mayReadOrWriteMemory() && !at.mayThrow();
}

// Also divisions: those that would trap run in any case.
bool is_arithmetic(const llvm::Instruction& at) {
  return llvm::isa<llvm::CastInst, llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst,
                   llvm::SelectInst, llvm::GetElementPtrInst, llvm::ExtractElementInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst, llvm::FreezeInst>(at);
}

}  // namespace

BirthValues::BirthValues(llvm::CallBase& allocation, const llvm::DominatorTree& dominators)
    : allocation_(allocation),
      dominators_(dominators),
      code_(llvm::BasicBlock::Create(allocation.getContext(), "halo.hint")),
      builder_(code_.get()) {
  builder_.SetCurrentDebugLocation(allocation.getDebugLoc());
  follow();
}

void BirthValues::follow() {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen = {allocation_.getParent()};
  const llvm::Instruction* at = &allocation_;
  for (unsigned steps = 0; steps < kMaxSteps; ++steps) {
    if (!at->isTerminator()) {
      at = at->getNextNode();
    } else {
      const llvm::BasicBlock* const from = at->getParent();
      const llvm::BasicBlock* const to = next_of(*at);
      if (to == nullptr || !seen.insert(to).second) return;
      // The next round of a loop: its values are not those that are known at the allocation.
      if (dominators_.dominates(to, allocation_.getParent())) return;
      for (const llvm::PHINode& phi : to->phis())
        chosen_[&phi] = resolved(phi.getIncomingValueForBlock(from));
      at = to->getFirstNonPHI();
    }
    if (!at->isTerminator() && !visit(const_cast<llvm::Instruction&>(*at))) return;
  }
}

// Null if there are several.
const llvm::BasicBlock* BirthValues::next_of(const llvm::Instruction& end) const {
  if (const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&end))
    return invoke == &allocation_ ? invoke->getNormalDest() : nullptr;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end);
  if (branch == nullptr) return nullptr;
  if (branch->isUnconditional()) return branch->getSuccessor(0);
  // The object is not null.
  const auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (test == nullptr || !test->isEquality()) return nullptr;
  const bool is_left = llvm::isa<llvm::ConstantPointerNull>(test->getOperand(0));
  if (!is_left && !llvm::isa<llvm::ConstantPointerNull>(test->getOperand(1))) return nullptr;
  if (!offset_of(test->getOperand(is_left ? 1 : 0))) return nullptr;
  return branch->getSuccessor(test->getPredicate() == llvm::CmpInst::ICMP_EQ ? 1 : 0);
}

// False if what is behind it may not run, or may see other memory.
bool BirthValues::visit(llvm::Instruction& at) {
  if (!continues(at)) return false;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
    visit_store(*store);
  } else if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&at)) {
    visit_memory(*memory);
  } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
    visit_load(*load);
  } else if (is_arithmetic(at)) {
    copied_.insert(&at);
  }
  return true;
}

void BirthValues::visit_store(const llvm::StoreInst& store) {
  llvm::Value* const value = resolved(const_cast<llvm::Value*>(store.getValueOperand()));
  const auto* const pointer = store.getPointerOperand();
  if (const auto offset = offset_of(pointer); offset && *offset >= 0) {
    const auto begin = static_cast<uint64_t>(*offset);
    stores_.push_back({begin, begin + size_of(value->getType()), value});
  } else if (is_own_variable(store)) {
    variables_[pointer] = value;
  } else {
    change();
  }
}

void BirthValues::visit_memory(const llvm::MemIntrinsic& memory) {
  const auto offset = offset_of(memory.getDest());
  if (!offset || *offset < 0) return change();
  // A constant clears the object.
  if (llvm::isa<llvm::MemSetInst>(memory)) return;
  const auto begin = static_cast<uint64_t>(*offset);
  const auto* const length = llvm::dyn_cast<llvm::ConstantInt>(memory.getLength());
  const uint64_t end =
      length == nullptr ? std::numeric_limits<uint64_t>::max() : begin + length->getLimitedValue();
  stores_.push_back({begin, std::max(begin, end), nullptr});
}

void BirthValues::visit_load(const llvm::LoadInst& load) {
  const llvm::Value* const pointer = load.getPointerOperand();
  const auto found = variables_.find(pointer);
  if (found != variables_.end() && found->second->getType() == load.getType()) {
    chosen_[&load] = found->second;
  } else if (!changed_ && !is_changed(pointer)) {
    copied_.insert(&load);
  }
}

// A store that may be to any memory but the function's own variables.
void BirthValues::change() {
  changed_ = true;
  variables_.clear();
}

// Whether the code may have stored to where a pointer points, if only to the object and to
// variables of the function.
bool BirthValues::is_changed(const llvm::Value* pointer) const {
  llvm::SmallVector<const llvm::Value*, 4> bases;
  llvm::getUnderlyingObjects(pointer, bases, nullptr, 0);
  return llvm::any_of(bases, [&](const llvm::Value* base) {
    const llvm::Value* const of = resolved(const_cast<llvm::Value*>(base));
    if (of != base || base == &allocation_ || variables_.contains(base)) return true;
    // An address of a variable may have become a number, and an address again.
    const auto* const made = llvm::dyn_cast<llvm::Instruction>(base);
    return made != nullptr && !llvm::isa<llvm::AllocaInst, llvm::LoadInst>(made) &&
           !is_before(*made) && !variables_.empty();
  });
}

// To a variable of the function that no other pointer reaches yet.
bool BirthValues::is_own_variable(const llvm::StoreInst& store) const {
  const llvm::Value* const pointer = store.getPointerOperand();
  return llvm::isa<llvm::AllocaInst>(pointer) &&
         !llvm::PointerMayBeCapturedBefore(pointer, true, true, &store, &dominators_);
}

llvm::Value* BirthValues::resolved(llvm::Value* value) const {
  const auto found = chosen_.find(value);
  return found == chosen_.end() ? value : found->second;
}

std::optional<int64_t> BirthValues::constant_of(llvm::Value* index) const {
  index = resolved(index);
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(index))
    return number->getBitWidth() <= 64 ? std::optional(number->getSExtValue()) : std::nullopt;
  const auto* const cast = llvm::dyn_cast<llvm::CastInst>(index);
  if (cast == nullptr || !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast)) return std::nullopt;
  const auto number = constant_of(cast->getOperand(0));
  const bool is_same = llvm::isa<llvm::SExtInst>(cast) || (number && *number >= 0);
  return is_same ? number : std::nullopt;
}

std::optional<int64_t> BirthValues::offset_of(const llvm::Value* pointer, unsigned depth) const {
  pointer = resolved(const_cast<llvm::Value*>(pointer));
  if (pointer == &allocation_) return 0;
  const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
  if (element == nullptr || depth == kMaxDepth) return std::nullopt;
  const auto base = offset_of(element->getPointerOperand(), depth + 1);
  if (!base) return std::nullopt;
  int64_t offset = *base;
  const llvm::DataLayout& layout = allocation_.getDataLayout();
  for (auto at = llvm::gep_type_begin(element); at != llvm::gep_type_end(element); ++at) {
    const auto number = constant_of(at.getOperand());
    if (!number) return std::nullopt;
    if (llvm::StructType* const structure = at.getStructTypeOrNull()) {
      const llvm::StructLayout* const fields = layout.getStructLayout(structure);
      offset += static_cast<int64_t>(
          fields->getElementOffset(static_cast<unsigned>(*number)).getFixedValue());
    } else {
      offset +=
          *number * static_cast<int64_t>(at.getSequentialElementStride(layout).getFixedValue());
    }
  }
  return offset;
}

uint64_t BirthValues::size_of(const llvm::Type* type) const {
  return allocation_.getDataLayout()
      .getTypeStoreSize(const_cast<llvm::Type*>(type))
      .getKnownMinValue();
}

llvm::Value* BirthValues::value_at(uint64_t offset, unsigned bytes) {
  for (const Store& store : llvm::reverse(stores_)) {
    if (store.end <= offset || store.begin >= offset + bytes) continue;
    if (store.value == nullptr || store.begin > offset || store.end < offset + bytes)
      return nullptr;
    if (llvm::isa<llvm::Constant>(store.value)) continue;
    return part_of(store, offset, bytes);
  }
  return nullptr;
}

llvm::Value* BirthValues::part_of(const Store& store, uint64_t offset, unsigned bytes) {
  llvm::Value* whole = rebuild(store.value, 0);
  if (whole == nullptr) return nullptr;
  if (whole->getType()->isPtrOrPtrVectorTy())
    whole =
        builder_.CreatePtrToInt(whole, allocation_.getDataLayout().getIntPtrType(whole->getType()));
  auto* const all = builder_.getIntNTy(static_cast<unsigned>(8 * size_of(whole->getType())));
  if (!llvm::CastInst::isBitCastable(whole->getType(), all)) return nullptr;
  llvm::Value* bits = builder_.CreateBitCast(whole, all);
  bits = builder_.CreateLShr(bits, 8 * (offset - store.begin));
  bits = builder_.CreateTrunc(bits, builder_.getIntNTy(8 * bytes));
  return builder_.CreateZExt(bits, builder_.getInt64Ty());
}

bool BirthValues::is_before(const llvm::Instruction& at) const {
  return &at != &allocation_ && dominators_.dominates(&at, &allocation_);
}

llvm::Value* BirthValues::rebuild(llvm::Value* value, unsigned depth) {
  value = resolved(value);
  auto* const made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made == nullptr) return value;
  if (const auto found = rebuilt_.find(value); found != rebuilt_.end()) return found->second;
  if (is_before(*made)) return value;
  if (depth == kMaxDepth || !copied_.contains(made)) return nullptr;
  llvm::SmallVector<llvm::Value*, 4> operands;
  for (llvm::Value* operand : made->operands()) {
    llvm::Value* const one = rebuild(operand, depth + 1);
    if (one == nullptr) return nullptr;
    operands.push_back(one);
  }
  llvm::Instruction* const copy = made->clone();
  for (unsigned at = 0; at < operands.size(); ++at) copy->setOperand(at, operands[at]);
  // What holds behind the allocation only.
  copy->dropUnknownNonDebugMetadata();
  copy->dropPoisonGeneratingFlags();
  builder_.Insert(copy);
  rebuilt_[value] = copy;
  return copy;
}

}  // namespace halo::pass
