#include "tracing/pass/variables.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace halo::pass {
namespace {

namespace dwarf = llvm::dwarf;

// The simple forms, which are nearly all: none, a dereference, an added constant, and a fragment.
std::optional<Binding> read(const llvm::DIExpression* expression, bool is_address) {
  Binding binding{nullptr, is_address, 0, 0};
  for (const auto& operation : expression->expr_ops()) {
    switch (operation.getOp()) {
      case dwarf::DW_OP_deref:
        if (binding.is_address) return std::nullopt;
        binding.is_address = true;
        break;
      case dwarf::DW_OP_plus_uconst:
        if (binding.is_address) return std::nullopt;
        binding.added += static_cast<int64_t>(operation.getArg(0));
        break;
      case dwarf::DW_OP_LLVM_fragment:
        binding.fragment = static_cast<int64_t>(operation.getArg(0) / 8);
        break;
      case dwarf::DW_OP_stack_value:
        break;
      default:
        return std::nullopt;
    }
  }
  return binding;
}

}  // namespace

Variables::Variables(const llvm::Function& function) {
  for (const llvm::Instruction& at : llvm::instructions(function)) {
    for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(at.getDbgRecordRange())) {
      if (!record.hasArgList() && !record.isKillLocation())
        add(record.getVariableLocationOp(0), record.getVariable(), record.getExpression(),
            record.isDbgDeclare());
      if (record.isDbgAssign() && !record.isKillAddress())
        if (const auto part = record.getExpression()->getFragmentInfo(); true) {
          const Binding binding{record.getVariable(), true,
                                part ? static_cast<int64_t>(part->OffsetInBits / 8) : 0, 0};
          bindings_[record.getAddress()].push_back(binding);
        }
    }
  }
}

const std::vector<Binding>& Variables::of(const llvm::Value* value) const {
  const auto found = bindings_.find(value);
  return found == bindings_.end() ? none_ : found->second;
}

void Variables::add(const llvm::Value* value, const llvm::DILocalVariable* variable,
                    const llvm::DIExpression* expression, bool is_address) {
  if (!value || llvm::isa<llvm::ConstantData>(value)) return;
  if (auto binding = read(expression, is_address)) {
    binding->variable = variable;
    bindings_[value].push_back(*binding);
  }
}

}  // namespace halo::pass
