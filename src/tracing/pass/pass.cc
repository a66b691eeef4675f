// The plugin: instruments each translation unit after its optimisation, or rewrites its
// allocations.
#include <llvm/IR/DebugInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/TargetParser/Triple.h>

#include <cstdlib>

#include "tracing/pass/emission.h"
#include "tracing/pass/functions.h"
#include "tracing/pass/hinting.h"
#include "tracing/pass/module_note.h"
#include "tracing/pass/options.h"
#include "tracing/pass/planning.h"

namespace halo::pass {
namespace {

std::vector<llvm::Function*> functions_of(llvm::Module& module) {
  std::vector<llvm::Function*> found;
  for (llvm::Function& function : module)
    if (is_instrumented(function)) found.push_back(&function);
  return found;
}

// Before link-time optimisation: functions inlined then would keep their entry and exit events.
bool is_before_link(const llvm::Module& module) {
  return module.getModuleFlag("EnableSplitLTOUnit") || module.getModuleFlag("ThinLTO");
}

void keep_apart(llvm::Function& function) {
  if (!function.hasFnAttribute(llvm::Attribute::AlwaysInline))
    function.addFnAttr(llvm::Attribute::NoInline);
}

// Skips bitcode that was instrumented before, and targets that the hook does not support, of which
// a build may have parts.
bool is_wanted(const llvm::Module& module) {
  const llvm::Triple triple(module.getTargetTriple());
  return triple.getArch() == llvm::Triple::x86_64 && !triple.isX32() && triple.isOSBinFormatELF() &&
         module.getNamedValue(kModuleNote) == nullptr;
}

bool instrument(llvm::Module& module, const Options& options) {
  if (!is_wanted(module)) return false;
  if (!options.hints.empty()) return place_by_hints(module, options.hints);
  llvm::DebugInfoFinder types;
  types.processModule(module);
  TypeNames names(types);
  SiteNotes notes(names);
  Planner planner(options, names, notes);
  const auto functions = functions_of(module);
  std::vector<FunctionPlan> plans;
  for (llvm::Function* function : functions) plans.push_back(planner.plan(*function));
  if (notes.empty()) return false;

  auto* byte = llvm::Type::getInt8Ty(module.getContext());
  auto* sites = new llvm::GlobalVariable(module, byte, true, llvm::GlobalValue::ExternalLinkage,
                                         nullptr, "halo.sites.stand-in");
  Emitter emitter(module, *sites);
  for (size_t number = 0; number < functions.size(); ++number) {
    emitter.emit(*functions[number], plans[number]);
    if (is_before_link(module)) keep_apart(*functions[number]);
  }
  notes.emit(module, *sites);
  add_module_note(module);
  return true;
}

class TracingPass : public llvm::PassInfoMixin<TracingPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    const char* text = std::getenv(kOptionsVariable);
    auto options = parse_options(text ? text : "");
    if (!options) {
      module.getContext().emitError("halo: " + llvm::toString(options.takeError()));
      return llvm::PreservedAnalyses::all();
    }
    return instrument(module, *options) ? llvm::PreservedAnalyses::none()
                                        : llvm::PreservedAnalyses::all();
  }
  // Also for functions that are not optimised.
  static bool isRequired() { return true; }
};

}  // namespace
}  // namespace halo::pass

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "halo", "1", [](llvm::PassBuilder& builder) {
            builder.registerOptimizerLastEPCallback(
                [](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
                  manager.addPass(halo::pass::TracingPass());
                });
          }};
}
