#include "pass/birth_values.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace halo::pass {
namespace {

constexpr unsigned kMaxSteps = 400;  // instructions behind the allocation
constexpr unsigned kMaxDepth = 24;   // instructions that compute a value from another

// Whether execution continues behind it, and it neither frees memory nor waits for other threads.
bool continues(const llvm::Instruction& at) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) return load->isSimple();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) return store->isSimple();
  if (const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&at)) return !copy->isVolatile();
  if (llvm::isa<llvm::DbgInfoIntrinsic>(at)) return true;
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&at))
    return intrinsic->isLifetimeStartOrEnd() || intrinsic->doesNotAccessMemory();
  return !llvm::isa<llvm::CallBase>(at) && !at.isAtomic() && !at.mayThrow();
}

// Without the addresses of objects that it may be within.
const llvm::Value* base_of(const llvm::Value* pointer) {
  return llvm::getUnderlyingObject(pointer, kMaxDepth);
}

}  // namespace

BirthValues::BirthValues(llvm::CallBase& allocation, const llvm::DominatorTree& dominators)
    : allocation_(allocation), dominators_(dominators), builder_(&allocation) {
  follow();
}

void BirthValues::follow() {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen = {allocation_.getParent()};
  const llvm::Instruction* at = &allocation_;
  for (unsigned steps = 0; steps < kMaxSteps; ++steps) {
    if (!at->isTerminator()) {
      at = at->getNextNode();
      if (!at->isTerminator() && !continues(*at)) return;
      visit(const_cast<llvm::Instruction&>(*at));
      continue;
    }
    const llvm::BasicBlock* from = at->getParent();
    const llvm::BasicBlock* to = next_of(*at);
    if (to == nullptr || !seen.insert(to).second) return;
    // The next round of a loop: its values are not those that are known at the allocation.
    if (dominators_.dominates(to, allocation_.getParent())) return;
    for (const llvm::PHINode& phi : to->phis()) {
      chosen_[&phi] = resolved(phi.getIncomingValueForBlock(from));
      on_path_[&phi] = changed_;
    }
    at = to->getFirstNonPHI();
    if (!at->isTerminator() && !continues(*at)) return;
    visit(const_cast<llvm::Instruction&>(*at));
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
  if (test == nullptr || !test->isEquality() ||
      !llvm::isa<llvm::ConstantPointerNull>(test->getOperand(1)) || !offset_of(test->getOperand(0)))
    return nullptr;
  return branch->getSuccessor(test->getPredicate() == llvm::CmpInst::ICMP_EQ ? 1 : 0);
}

void BirthValues::visit(llvm::Instruction& at) {
  on_path_[&at] = changed_;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
    visit_store(*store);
  } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
    const auto found = variables_.find(load->getPointerOperand());
    if (found == variables_.end()) return;
    if (found->second->getType() == load->getType()) {
      chosen_[load] = found->second;
    } else {
      on_path_[load] = true;
    }
  } else if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&at)) {
    if (!offset_of(memory->getDest())) change();
  }
}

void BirthValues::visit_store(const llvm::StoreInst& store) {
  llvm::Value* const value = resolved(const_cast<llvm::Value*>(store.getValueOperand()));
  const auto* const pointer = store.getPointerOperand();
  const auto offset = offset_of(pointer);
  if (offset && *offset >= 0) {
    stores_.push_back({static_cast<uint64_t>(*offset), value});
  } else if (llvm::isa<llvm::AllocaInst>(pointer)) {
    variables_[pointer] = value;
  } else {
    change();
  }
}

// A store that may be to anything, also to variables.
void BirthValues::change() {
  changed_ = true;
  variables_.clear();
}

llvm::Value* BirthValues::resolved(llvm::Value* value) const {
  const auto found = chosen_.find(value);
  return found == chosen_.end() ? value : found->second;
}

std::optional<int64_t> BirthValues::constant_of(llvm::Value* index) const {
  index = resolved(index);
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(index))
    return number->getBitWidth() <= 64 ? std::optional(number->getSExtValue()) : std::nullopt;
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(index))
    if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast)) return constant_of(cast->getOperand(0));
  return std::nullopt;
}

std::optional<int64_t> BirthValues::offset_of(const llvm::Value* pointer) const {
  pointer = resolved(const_cast<llvm::Value*>(pointer));
  if (pointer == &allocation_) return 0;
  const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
  if (element == nullptr) return std::nullopt;
  const auto base = offset_of(element->getPointerOperand());
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

llvm::Value* BirthValues::before_allocation(uint64_t offset, unsigned bytes) {
  const llvm::DataLayout& layout = allocation_.getDataLayout();
  for (const Store& store : llvm::reverse(stores_)) {
    const uint64_t size = layout.getTypeStoreSize(store.value->getType()).getFixedValue();
    if (store.begin + size <= offset || store.begin >= offset + bytes) continue;
    if (store.begin > offset || store.begin + size < offset + bytes) return nullptr;
    if (llvm::isa<llvm::Constant>(store.value)) continue;
    return part_of(store, offset, bytes);
  }
  return nullptr;
}

llvm::Value* BirthValues::part_of(const Store& store, uint64_t offset, unsigned bytes) {
  llvm::Value* whole = rebuild(store.value, 0);
  if (whole == nullptr) return nullptr;
  const llvm::DataLayout& layout = allocation_.getDataLayout();
  if (whole->getType()->isPtrOrPtrVectorTy())
    whole = builder_.CreatePtrToInt(whole, layout.getIntPtrType(whole->getType()));
  const uint64_t size = layout.getTypeStoreSize(whole->getType()).getFixedValue();
  auto* const all = builder_.getIntNTy(static_cast<unsigned>(8 * size));
  if (!llvm::CastInst::isBitCastable(whole->getType(), all)) return nullptr;
  llvm::Value* bits = builder_.CreateBitCast(whole, all);
  bits = builder_.CreateLShr(bits, 8 * (offset - store.begin));
  bits = builder_.CreateTrunc(bits, builder_.getIntNTy(8 * bytes));
  return builder_.CreateZExt(bits, builder_.getInt64Ty());
}

bool BirthValues::is_before(const llvm::Instruction& at) const {
  return &at != &allocation_ && dominators_.dominates(&at, &allocation_);
}

// Not a load behind a store that may have changed its value: what the program reads is then
// something else, which may not be a pointer.
bool BirthValues::may_rebuild(const llvm::Instruction& at) const {
  const auto found = on_path_.find(&at);
  if (found == on_path_.end()) return false;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at))
    return !found->second && base_of(load->getPointerOperand()) != &allocation_ &&
           !offset_of(load->getPointerOperand());
  if (at.isIntDivRem()) return false;
  return llvm::isa<llvm::CastInst, llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst,
                   llvm::SelectInst, llvm::GetElementPtrInst, llvm::ExtractElementInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst, llvm::FreezeInst>(at);
}

llvm::Value* BirthValues::rebuild(llvm::Value* value, unsigned depth) {
  value = resolved(value);
  auto* const made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made == nullptr) return value;
  if (const auto found = rebuilt_.find(value); found != rebuilt_.end()) return found->second;
  if (is_before(*made)) return value;
  if (depth == kMaxDepth || !may_rebuild(*made)) return nullptr;
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
