#include "tracing/pass/emission.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "tracing/format/logged.h"
#include "tracing/pass/functions.h"
#include "tracing/pass/words.h"

namespace halo::pass {
namespace {

// The point behind an instruction; for a call that may throw, on its normal path.
llvm::Instruction* behind(llvm::Instruction* instruction) {
  auto* call = llvm::dyn_cast<llvm::InvokeInst>(instruction);
  if (!call) return instruction->getNextNode();
  llvm::BasicBlock* next = call->getNormalDest();
  if (!next->getUniquePredecessor()) next = llvm::SplitEdge(call->getParent(), next);
  return &*next->getFirstInsertionPt();
}

llvm::Value* accessed_value(llvm::IRBuilderBase& builder, const Access& access) {
  if (access.length) return builder.CreateZExtOrTrunc(access.length, builder.getInt64Ty());
  llvm::Value* value = access.value ? access.value : access.instruction;
  if (llvm::isa<llvm::AtomicCmpXchgInst>(value)) value = builder.CreateExtractValue(value, 0);
  return to_word(builder, value);
}

llvm::Value* argument(llvm::IRBuilderBase& builder, const llvm::CallBase& call, int position) {
  if (position < 0) return builder.getInt64(1);
  return builder.CreateZExtOrTrunc(call.getArgOperand(static_cast<unsigned>(position)),
                                   builder.getInt64Ty());
}

struct Elements {
  llvm::Value* size;
  llvm::Value* count;
};

// As many elements of the inferred type as fill the memory; if they do not fill it, the call's own
// arguments.
Elements elements_of(llvm::IRBuilderBase& builder, const PlannedAllocation& planned) {
  const Elements requested{argument(builder, *planned.call, planned.allocator.size),
                           argument(builder, *planned.call, planned.allocator.count)};
  if (planned.element_size == 0) return requested;
  llvm::Value* size = builder.getInt64(planned.element_size);
  llvm::Value* bytes = builder.CreateMul(requested.size, requested.count);
  if (planned.has_cookie) bytes = builder.CreateSub(bytes, builder.getInt64(kCookie));
  llvm::Value* fits = builder.CreateICmpEQ(builder.CreateURem(bytes, size), builder.getInt64(0));
  return {builder.CreateSelect(fits, size, requested.size),
          builder.CreateSelect(fits, builder.CreateUDiv(bytes, size), requested.count)};
}

// A call that becomes a jump: the code behind it is not reached from here.
bool leaves(const llvm::CallBase& call, const FunctionPlan& plan) {
  for (const PlannedExit& exit : plan.exits)
    if (exit.before == &call) return true;
  return false;
}

}  // namespace

Emitter::Emitter(llvm::Module& module, llvm::GlobalVariable& sites)
    : module_(module), sites_(sites) {
  llvm::LLVMContext& context = module.getContext();
  auto* word = llvm::Type::getInt64Ty(context);
  hook_ = module.getOrInsertFunction(
      "halo_log_v1",
      llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                              {llvm::PointerType::get(context, 0), word, word}, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(hook_.getCallee())) {
    function->setCallingConv(llvm::CallingConv::PreserveAll);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    // Bound at program start: lazy binding at the first call would change registers that must be
    // kept.
    function->addFnAttr(llvm::Attribute::NonLazyBind);
  }
}

void Emitter::emit(llvm::Function& function, const FunctionPlan& plan) {
  for (const PlannedAllocation& planned : plan.allocations)
    if (!leaves(*planned.call, plan)) allocation(planned);
  for (const PlannedAccess& planned : plan.accesses)
    planned.access.mask ? masked(planned) : access(planned);
  for (const PlannedExit& planned : plan.exits) exit(planned);
  if (plan.enter) enter(function, *plan.enter);
}

void Emitter::access(const PlannedAccess& planned) {
  const Access& found = planned.access;
  const bool result = !found.value && !found.length;
  llvm::IRBuilder<> builder(result ? found.instruction->getNextNode() : found.instruction);
  builder.SetCurrentDebugLocation(found.instruction->getDebugLoc());
  log(builder, site(planned.site), to_word(builder, found.pointer), accessed_value(builder, found));
}

void Emitter::masked(const PlannedAccess& planned) {
  const Access& found = planned.access;
  llvm::Value* value = found.value ? found.value : found.instruction;
  if (!found.pointer->getType()->isVectorTy()) {
    llvm::IRBuilder<> builder(found.instruction->getNextNode());
    log_if(planned, builder.CreateOrReduce(found.mask), found.pointer, value);
    return;
  }
  const auto* lanes = llvm::cast<llvm::FixedVectorType>(found.pointer->getType());
  // Each is inserted before those behind the instruction: the last one first.
  for (unsigned lane = lanes->getNumElements(); lane-- > 0;) {
    llvm::IRBuilder<> builder(found.instruction->getNextNode());
    llvm::Value* on = builder.CreateExtractElement(found.mask, lane);
    llvm::Value* pointer = builder.CreateExtractElement(found.pointer, lane);
    log_if(planned, on, pointer, builder.CreateExtractElement(value, lane));
  }
}

// Behind the instruction and all code inserted for its result.
void Emitter::log_if(const PlannedAccess& planned, llvm::Value* condition, llvm::Value* pointer,
                     llvm::Value* value) {
  llvm::Instruction* at = planned.access.instruction->getNextNode();
  for (llvm::Value* needed : {condition, pointer, value}) {
    auto* made = llvm::dyn_cast<llvm::Instruction>(needed);
    if (made && made->getParent() == at->getParent() && at->comesBefore(made->getNextNode()))
      at = made->getNextNode();
  }
  llvm::IRBuilder<> builder(llvm::SplitBlockAndInsertIfThen(condition, at, /*Unreachable=*/false));
  builder.SetCurrentDebugLocation(planned.access.instruction->getDebugLoc());
  log(builder, site(planned.site), to_word(builder, pointer), to_word(builder, value));
}

void Emitter::allocation(const PlannedAllocation& planned) {
  llvm::IRBuilder<> builder(behind(planned.call));
  builder.SetCurrentDebugLocation(planned.call->getDebugLoc());
  const Elements elements = elements_of(builder, planned);
  const int position = planned.allocator.address;
  llvm::Value* address = planned.call;
  if (position >= 0)
    address = builder.CreateLoad(builder.getPtrTy(),
                                 planned.call->getArgOperand(static_cast<unsigned>(position)));
  log(builder, site(planned.site), to_word(builder, address), elements.size);
  llvm::Value* marker = builder.CreateIntToPtr(
      builder.getInt64(static_cast<uint64_t>(trace::Marker::kCount)), builder.getPtrTy());
  log(builder, marker, elements.count, builder.getInt64(0));
}

void Emitter::enter(llvm::Function& function, uint32_t offset) {
  llvm::BasicBlock::iterator at = function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  llvm::IRBuilder<> builder(&function.getEntryBlock(), at);
  if (const llvm::DISubprogram* program = function.getSubprogram())
    builder.SetCurrentDebugLocation(llvm::DILocation::get(
        function.getContext(), program->getLine(), 0, const_cast<llvm::DISubprogram*>(program)));
  llvm::Value* address = builder.CreateIntrinsic(builder.getPtrTy(), llvm::Intrinsic::returnaddress,
                                                 {builder.getInt32(0)});
  log(builder, site(offset), slot(builder), to_word(builder, address));
}

void Emitter::exit(const PlannedExit& planned) {
  llvm::IRBuilder<> builder(planned.before);
  log(builder, site(planned.site), slot(builder), builder.getInt64(0));
}

llvm::Value* Emitter::slot(llvm::IRBuilderBase& builder) {
  llvm::Function* intrinsic = llvm::Intrinsic::getDeclaration(
      &module_, llvm::Intrinsic::addressofreturnaddress, {builder.getPtrTy()});
  return builder.CreatePtrToInt(builder.CreateCall(intrinsic), builder.getInt64Ty());
}

llvm::Value* Emitter::site(uint32_t offset) {
  return llvm::ConstantExpr::getGetElementPtr(
      llvm::Type::getInt8Ty(module_.getContext()), &sites_,
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), offset));
}

void Emitter::log(llvm::IRBuilderBase& builder, llvm::Value* site, llvm::Value* word1,
                  llvm::Value* word2) {
  builder.CreateCall(hook_, {site, word1, word2})->setCallingConv(llvm::CallingConv::PreserveAll);
}

}  // namespace halo::pass
