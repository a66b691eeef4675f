#include "tracing/pass/places.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalAlias.h>

#include "tracing/pass/alternatives.h"
#include "tracing/pass/functions.h"
#include "tracing/pass/pointers.h"

namespace halo::pass {
namespace {

constexpr int kMaxDepth = 48;
constexpr unsigned kUses = 64;
constexpr unsigned kMaxSteps = 2000;  // per address, while no provisional result is cached

const Place& better(const Place& left, const Place& right) {
  return rank_of(right) > rank_of(left) ? right : left;
}

// Chooses between two classes at the same address: the larger one contains the other.
bool holds_more(const Place& candidate, const Place& than) {
  return as_class(candidate.type) && as_class(than.type) && than.offset == 0 &&
         candidate.offset == 0 && than.others.empty() && !than.anywhere &&
         bytes_of(candidate.type) > bytes_of(than.type);
}

bool is_beginning(const Place& place) {
  return rank_of(place) == 3 && place.offset == 0 && place.others.empty() && !place.is_variable;
}

}  // namespace

Places::Places(const llvm::Function& function, TypeNames& names)
    : variables_(function),
      returned_(type_in(function.getSubprogram(), 0)),
      names_(names),
      layout_(function.getDataLayout()) {}

Place Places::accessed(const llvm::Instruction& access, const llvm::Value* pointer, uint64_t size) {
  return combine(of(pointer), tag_of(access), size, names_);
}

Place Places::of(const llvm::Value* pointer) {
  const auto known = known_.find(pointer);
  if (known != known_.end()) return known->second;
  if (pending_.contains(pointer) || depth_ >= kMaxDepth) {
    used_pending_ = true;
    return assumed_.lookup(pointer);
  }
  if (depth_ == 0) steps_ = 0;
  const bool before = used_pending_;
  used_pending_ = false;
  pending_[pointer] = true;
  ++depth_;
  Place place = infer(pointer);
  --depth_;
  pending_.erase(pointer);
  // The start of a class cannot be improved by pending results; any other place might be.
  const bool final = is_beginning(place) || ++steps_ > kMaxSteps;
  if (!used_pending_ || final || depth_ == 0) known_[pointer] = place;
  used_pending_ = depth_ > 0 && (used_pending_ || before);
  return place;
}

Place Places::infer(const llvm::Value* pointer) {
  Place variable = by_variable(pointer);
  // A variable of class type avoids following the loop by which a list is traversed.
  if (llvm::isa<llvm::PHINode>(pointer) && rank_of(variable) == 3) return variable;
  Place place = by_origin(pointer);
  if (holds_more(variable, place) && !place.is_variable) place = variable;
  place = better(place, variable);
  return rank_of(place) >= 2 ? place : better(place, by_uses(pointer));
}

Place Places::by_origin(const llvm::Value* pointer) {
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer)) return of_global(global);
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(pointer))
    return of(alias->getAliasee()->stripPointerCasts());
  if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer)) return of_element(element);
  if (const auto* cast = llvm::dyn_cast<llvm::Operator>(pointer)) {
    if (cast->getOpcode() == llvm::Instruction::AddrSpaceCast ||
        cast->getOpcode() == llvm::Instruction::BitCast)
      return of(cast->getOperand(0));
    if (cast->getOpcode() == llvm::Instruction::IntToPtr) return of_integer(cast->getOperand(0));
  }
  if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(pointer))
    return by_instruction(instruction);
  return {};
}

Place Places::by_instruction(const llvm::Instruction* instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction))
    return of_loaded(load, load->getPointerOperand());
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction))
    return of_loaded(update, update->getPointerOperand());
  if (llvm::isa<llvm::PHINode>(instruction)) return of_merged(instruction, 0);
  if (llvm::isa<llvm::SelectInst>(instruction)) return of_merged(instruction, 1);
  if (llvm::isa<llvm::FreezeInst>(instruction)) return of(instruction->getOperand(0));
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(instruction)) return of_called(call);
  if (const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(instruction))
    return of_extracted(part);
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(instruction))
    return variables_.of(local).empty() ? of_temporary(local) : Place{};
  return {};
}

Place Places::by_variable(const llvm::Value* pointer) {
  Place best;
  for (const Binding& binding : variables_.of(pointer)) {
    const llvm::StringRef name = binding.variable->getName();
    const Place variable{binding.variable->getType(), binding.fragment,
                         name.empty() ? "parameter" : name.str(), true};
    Place place = variable;
    if (!binding.is_address) {
      place = followed(variable);
      place.move(-binding.added);
    }
    if (holds_more(place, best) || rank_of(place) > rank_of(best)) best = place;
  }
  return best;
}

Place Places::by_uses(const llvm::Value* pointer) {
  if (llvm::isa<llvm::Constant>(pointer)) return {};
  Place best;
  unsigned uses = 0;
  for (const llvm::User* user : pointer->users()) {
    if (++uses > kUses || rank_of(best) == 3) break;
    best = better(best, by_use(pointer, user));
  }
  return best;
}

Place Places::by_use(const llvm::Value* pointer, const llvm::User* user) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
    if (store->getValueOperand() == pointer)
      return followed(accessed(*store, store->getPointerOperand(), 8));
    return combine({}, tag_of(*store), 0, names_);
  }
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user))
    return combine({}, tag_of(*load), 0, names_);
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
    for (unsigned number = 0; number < call->arg_size(); ++number)
      if (call->getArgOperand(number) == pointer)
        return {pointee_of(parameter_type(*call, number + 1)), 0, "", false};
  }
  if (llvm::isa<llvm::ReturnInst>(user)) return {pointee_of(returned_), 0, "", false};
  if (llvm::isa<llvm::PHINode, llvm::SelectInst>(user)) return by_variable(user);
  return {};
}

Place Places::of_global(const llvm::GlobalVariable* global) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> described;
  global->getDebugInfo(described);
  for (const llvm::DIGlobalVariableExpression* expression : described) {
    const llvm::DIGlobalVariable* variable = expression->getVariable();
    const auto part = expression->getExpression()->getFragmentInfo();
    const auto offset = part ? static_cast<int64_t>(part->OffsetInBits / 8) : 0;
    return {variable->getType(), offset,
            scope_prefix(variable->getScope()) + variable->getName().str(), true};
  }
  return {nullptr, 0, llvm::demangle(global->getName()), true};
}

// Clang names the types of its own temporaries after the classes.
Place Places::of_temporary(const llvm::AllocaInst* local) {
  const llvm::DIType* type = class_of(llvm::dyn_cast<llvm::StructType>(local->getAllocatedType()));
  return {type ? type : by_uses(local).type, 0, "temporary", true};
}

Place Places::of_element(const llvm::GEPOperator* element) {
  Place place = of(element->getPointerOperand());
  const unsigned bits = layout_.getIndexSizeInBits(0);
  Steps steps;
  llvm::APInt offset(bits, 0);
  if (element->getType()->isVectorTy()) return place;
  if (!element->collectOffset(layout_, bits, steps, offset)) return {};
  if (!place.type) place = of_source_type(element, place);
  place.move(offset.getSExtValue());
  if (steps.empty()) return place;
  if (steps.size() == 1 && is_base_offset(steps.front().first)) return {};
  return indexed(place, steps);
}

// Without optimisation, the address of a field names the class.
Place Places::of_source_type(const llvm::GEPOperator* element, const Place& otherwise) {
  const auto* structure = llvm::dyn_cast<llvm::StructType>(element->getSourceElementType());
  const llvm::DIType* type = class_of(structure);
  return type ? Place{type, 0, "", false} : otherwise;
}

const llvm::DIType* Places::class_of(const llvm::StructType* structure) const {
  if (!structure || !structure->hasName() || !structure->isSized()) return nullptr;
  const auto [kind, name] = structure->getName().split('.');
  const llvm::DIType* type = names_.tagged(name);
  auto* sized = const_cast<llvm::StructType*>(structure);
  return bytes_of(type) == layout_.getTypeAllocSize(sized) ? type : nullptr;
}

Place Places::of_loaded(const llvm::Instruction* load, const llvm::Value* address) {
  return followed(accessed(*load, address, 8));
}

Place Places::of_merged(const llvm::User* merge, unsigned first) {
  Place place = merged(merge, first);
  // Repeats the loop with the result of the first pass as a start.
  if (!used_pending_ || !assumed_.empty() || rank_of(place) < 2) return place;
  assumed_[merge] = place;
  place = merged(merge, first);
  assumed_.clear();
  return place;
}

Place Places::merged(const llvm::User* merge, unsigned first) {
  std::vector<Alternative> found;
  const bool before = used_pending_;
  bool round = false;
  for (unsigned number = first; number < merge->getNumOperands(); ++number) {
    const llvm::Value* choice = merge->getOperand(number);
    if (llvm::isa<llvm::ConstantData>(choice)) continue;
    used_pending_ = false;
    Place place = of(choice);
    if (place.known()) found.push_back({std::move(place), !used_pending_});
    round = round || used_pending_;
  }
  used_pending_ = before || round;
  return merge_of(found);
}

Place Places::of_called(const llvm::CallBase* call) {
  if (passes_through(*call)) return of(call->getArgOperand(0));
  if (const llvm::Value* same = call->getReturnedArgOperand())
    if (const Place place = of(same); rank_of(place) >= 2) return place;
  if (const auto* allocated =
          llvm::dyn_cast_or_null<llvm::DIType>(call->getMetadata("heapallocsite")))
    return {allocated, 0, "", false};
  const llvm::DIType* result = parameter_type(*call, 0);
  const llvm::Function* callee = call->getCalledFunction();
  if (!callee || !call->getType()->isPointerTy()) return {};
  return {pointee_of(result), 0,
          readable(callee->getName()) + (is_reference(result) ? "()" : "()[]"), false};
}

// A part of a result that was returned in two registers.
Place Places::of_extracted(const llvm::ExtractValueInst* part) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(part->getAggregateOperand());
  const llvm::DIType* result = call ? parameter_type(*call, 0) : nullptr;
  auto* structure = llvm::dyn_cast<llvm::StructType>(part->getAggregateOperand()->getType());
  if (!result || !structure) return {};
  const auto offset = layout_.getStructLayout(structure)->getElementOffset(part->getIndices()[0]);
  return followed({result, static_cast<int64_t>(offset.getFixedValue()),
                   readable(call->getCalledFunction()->getName()) + "()", true});
}

// An address that was held as an integer, perhaps with a tag in its low bits.
Place Places::of_integer(const llvm::Value* integer) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(integer)) return of(load);
  if (const auto* operation = llvm::dyn_cast<llvm::Operator>(integer)) {
    switch (operation->getOpcode()) {
      case llvm::Instruction::And:
      case llvm::Instruction::Or:
      case llvm::Instruction::Xor:
        return llvm::isa<llvm::ConstantInt>(operation->getOperand(1))
                   ? of_integer(operation->getOperand(0))
                   : Place{};
      case llvm::Instruction::PtrToInt:
        return of(operation->getOperand(0));
      default:
        break;
    }
  }
  return {};
}

Place Places::followed(const Place& holder) {
  const Name held = name_of(holder, 8, names_);
  if (held.variable.empty()) return {};
  const llvm::DIType* type = pointee_of(held.type);
  const bool spelled = is_reference(held.type);
  return {type, 0, held.variable + (spelled ? "" : "[]"), false};
}

}  // namespace halo::pass
