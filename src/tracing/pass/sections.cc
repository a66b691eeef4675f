#include "tracing/pass/sections.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include "tracing/format/site.h"

namespace halo::pass {
namespace {

llvm::GlobalVariable* declare(llvm::Module& module, llvm::Type* type, const char* name,
                              const char* section, uint64_t alignment) {
  auto* variable = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                            nullptr, name);
  variable->setSection(section);
  variable->setAlignment(llvm::Align(alignment));
  return variable;
}

llvm::Constant* at(llvm::GlobalVariable& base, uint64_t offset) {
  llvm::LLVMContext& context = base.getContext();
  return llvm::ConstantExpr::getPtrToInt(
      llvm::ConstantExpr::getInBoundsGetElementPtr(
          llvm::Type::getInt8Ty(context), &base,
          llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), offset)),
      llvm::Type::getInt64Ty(context));
}

class Filler {
 public:
  Filler(llvm::GlobalVariable* strings, llvm::GlobalVariable* types)
      : strings_(strings), types_(types) {}

  void fill(llvm::GlobalVariable& variable, const std::vector<Word>& words) const {
    std::vector<llvm::Constant*> values;
    values.reserve(words.size());
    for (const Word& word : words) values.push_back(value(variable, values.size() * 4, word));
    auto* type = llvm::cast<llvm::ArrayType>(variable.getValueType());
    variable.setInitializer(llvm::ConstantArray::get(type, values));
  }

 private:
  // Relative to itself, so that the sections need no relocation at load time.
  llvm::Constant* value(llvm::GlobalVariable& variable, uint64_t offset, const Word& word) const {
    auto* int32 = llvm::Type::getInt32Ty(variable.getContext());
    if (word.target.section == Target::Section::kNone)
      return llvm::ConstantInt::get(int32, word.number);
    llvm::GlobalVariable* to = word.target.section == Target::Section::kStrings ? strings_ : types_;
    return llvm::ConstantExpr::getTrunc(
        llvm::ConstantExpr::getSub(at(*to, word.target.offset), at(variable, offset)), int32);
  }

  llvm::GlobalVariable* strings_;
  llvm::GlobalVariable* types_;
};

}  // namespace

Target Strings::add(llvm::StringRef text) {
  if (text.empty()) return {};
  const auto [place, fresh] = offsets_.try_emplace(text, static_cast<uint32_t>(bytes_.size()));
  if (fresh) bytes_.append(text).push_back('\0');
  return {Target::Section::kStrings, place->second};
}

void emit_sections(llvm::Module& module, llvm::GlobalVariable& sites_stand_in,
                   const std::vector<Word>& sites, const std::vector<Word>& types,
                   const std::string& strings) {
  llvm::LLVMContext& context = module.getContext();
  auto* text = llvm::ConstantDataArray::getString(context, strings, false);
  auto* int32 = llvm::Type::getInt32Ty(context);
  auto* string_bytes = declare(module, text->getType(), "halo.strings", trace::kStringSection, 1);
  string_bytes->setInitializer(text);
  llvm::GlobalVariable* type_notes = nullptr;
  if (!types.empty())
    type_notes = declare(module, llvm::ArrayType::get(int32, types.size()), "halo.types",
                         trace::kTypeSection, 4);
  auto* notes = declare(module, llvm::ArrayType::get(int32, sites.size()), "halo.sites",
                        trace::kSiteSection, 8);
  const Filler filler(string_bytes, type_notes);
  if (type_notes) filler.fill(*type_notes, types);
  filler.fill(*notes, sites);
  sites_stand_in.replaceAllUsesWith(notes);
  sites_stand_in.eraseFromParent();
}

}  // namespace halo::pass
