#include "tracing/pass/planning.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/Path.h>

#include <algorithm>

#include "tracing/pass/functions.h"

namespace halo::pass {
namespace {

using trace::SiteKind;

bool passes(const Globs& files, const std::string& path) {
  return files.pass({path, llvm::sys::path::filename(path)});
}

// Without debug information: the compiled source, even for code of a header.
std::string file_of(const llvm::Function& function, const llvm::DILocation* where) {
  if (where) return path_of(where->getFile());
  if (const llvm::DISubprogram* program = function.getSubprogram())
    return path_of(program->getFile());
  return function.getParent()->getSourceFileName();
}

const llvm::SelectInst* choice_in(const llvm::Value* pointer) {
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(pointer)) return choice;
  const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
  if (!element) return nullptr;
  for (const llvm::Use& index : element->indices())
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(index)) return choice;
  return choice_in(element->getPointerOperand());
}

// The optimiser drops the line of a load that it merged from several. The choice between their
// addresses keeps its line, if it is in the same function.
const llvm::DILocation* place_of(const llvm::Instruction& at, const llvm::Value* pointer) {
  const llvm::DILocation* own = at.getDebugLoc().get();
  const llvm::SelectInst* choice = own && own->getLine() == 0 ? choice_in(pointer) : nullptr;
  if (!choice) return own;
  const auto* condition = llvm::dyn_cast<llvm::Instruction>(choice->getCondition());
  for (const llvm::Instruction* made : {llvm::cast<llvm::Instruction>(choice), condition}) {
    const llvm::DILocation* where = made ? made->getDebugLoc().get() : nullptr;
    if (where && where->getLine() != 0 &&
        where->getScope()->getSubprogram() == own->getScope()->getSubprogram())
      return where;
  }
  return own;
}

// The allocated object, for the requested size and the assigned name.
Place allocated_at(Places& places, const llvm::CallBase& call, const Allocator& allocator) {
  if (allocator.address < 0) return places.of(&call);
  const llvm::Value* holder = call.getArgOperand(static_cast<unsigned>(allocator.address));
  return places.held(holder);
}

// Elements with a destructor: their number is stored before them, in no member of the source's
// types.
bool has_cookie(const llvm::CallBase& call, const llvm::DIType* type) {
  if (!as_class(type) || !call.getCalledFunction()->getName().starts_with("_Zna")) return false;
  bool stores_number = false;
  bool skips_it = false;
  for (const llvm::User* user : call.users()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    stores_number |= store && store->getPointerOperand() == &call &&
                     store->getValueOperand()->getType()->isIntegerTy(64) &&
                     !store->hasMetadata(llvm::LLVMContext::MD_tbaa);
    const auto* element = llvm::dyn_cast<llvm::GEPOperator>(user);
    llvm::APInt offset(64, 0);
    skips_it |= element && element->accumulateConstantOffset(call.getDataLayout(), offset) &&
                offset == kCookie;
  }
  return stores_number && skips_it;
}

std::string without_brackets(llvm::StringRef name) {
  name.consume_back("[]");
  return name.str();
}

bool has_arguments(const llvm::CallBase& call, const Allocator& allocator) {
  const int last = std::max({allocator.size, allocator.count, allocator.address});
  const auto is_integer = [&](int position) {
    return position < 0 ||
           call.getArgOperand(static_cast<unsigned>(position))->getType()->isIntegerTy();
  };
  if (last >= static_cast<int>(call.arg_size())) return false;
  const llvm::Type* address =
      allocator.address < 0
          ? call.getType()
          : call.getArgOperand(static_cast<unsigned>(allocator.address))->getType();
  return is_integer(allocator.size) && is_integer(allocator.count) && address->isPointerTy();
}

}  // namespace

FunctionPlan Planner::plan(llvm::Function& function) {
  part_returns(function);
  FunctionPlan plan;
  Places places(function, names_);
  for (llvm::Instruction& at : llvm::instructions(function)) {
    plan_accesses(plan, places, at);
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&at)) plan_allocation(plan, places, *call);
  }
  plan_calls(plan, function);
  return plan;
}

std::optional<SiteNote> Planner::site(SiteKind kind, const llvm::Function& function,
                                      const llvm::DILocation* where) const {
  const Filters& filters = options_.filters;
  const llvm::DISubprogram* program =
      where ? where->getScope()->getSubprogram() : function.getSubprogram();
  const llvm::StringRef linkage = program && !program->getLinkageName().empty()
                                      ? program->getLinkageName()
                                      : function.getName();
  SiteNote note;
  note.kind = kind;
  note.function = program ? readable(program) : readable(function.getName());
  note.file = file_of(function, where);
  note.line = where ? where->getLine() : 0;
  note.column = where ? where->getColumn() : 0;
  if (!filters.pass_event(kind) || !filters.functions.pass({note.function, linkage}) ||
      !passes(filters.files, note.file))
    return std::nullopt;
  return note;
}

void Planner::plan_accesses(FunctionPlan& plan, Places& places, llvm::Instruction& at) {
  for (const Access& access : accesses_of(at)) {
    auto note = site(access.kind, *at.getFunction(), place_of(at, access.pointer));
    if (!note) continue;
    const Name name =
        name_of(places.accessed(at, access.pointer, access.size), access.size, names_);
    note->alignment_log2 = access.alignment_log2;
    note->size = access.size <= UINT16_MAX ? static_cast<uint16_t>(access.size) : uint16_t{0};
    note->variable = name.variable;
    note->type = name.type ? names_.name(name.type) : "";
    note->owner = name.owner;
    note->owner_offset = static_cast<uint32_t>(name.owner_offset);
    const std::string owner = name.owner ? names_.name(name.owner) : "";
    if (options_.filters.types.pass({note->type, owner}))
      plan.accesses.push_back({access, notes_.add(*note)});
  }
}

void Planner::plan_allocation(FunctionPlan& plan, Places& places, llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  const Allocator* allocator = callee ? options_.allocators.find(callee->getName()) : nullptr;
  if (!allocator || !has_arguments(call, *allocator)) return;
  auto note = site(SiteKind::kAllocation, *call.getFunction(), call.getDebugLoc().get());
  if (!note) return;
  const Place place = allocated_at(places, call, *allocator);
  const llvm::DIType* type = place.offset == 0 ? place.type : nullptr;
  const uint64_t size = bytes_of(type);
  note->element_size = static_cast<uint32_t>(size);
  note->type = type ? names_.name(as_class(type) ? strip(type) : type) : "";
  note->owner = as_class(type);
  note->variable = without_brackets(place.name);
  if (options_.filters.types.pass({note->type}))
    plan.allocations.push_back(
        {&call, *allocator, size, has_cookie(call, type), notes_.add(*note)});
}

void Planner::plan_calls(FunctionPlan& plan, llvm::Function& function) {
  const llvm::DISubprogram* program = function.getSubprogram();
  if (auto enter = site(SiteKind::kEnter, function, nullptr)) {
    enter->line = program ? program->getLine() : 0;
    plan.enter = notes_.add(*enter);
  }
  for (llvm::Instruction* before : exits_of(function)) {
    auto exit = site(SiteKind::kExit, function, nullptr);
    if (!exit) continue;
    // The line only: the scope may be of a function inlined here.
    const llvm::DILocation* where = before->getDebugLoc().get();
    exit->line = where && !where->getInlinedAt() ? where->getLine() : 0;
    plan.exits.push_back({before, notes_.add(*exit)});
  }
}

}  // namespace halo::pass
