#include "tracing/pass/type_names.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Support/Path.h>

#include "tracing/pass/members.h"

namespace halo::pass {

namespace dwarf = llvm::dwarf;

std::string scope_prefix(const llvm::DIScope* scope) {
  std::string prefix;
  for (; scope; scope = scope->getScope()) {
    if (const auto* space = llvm::dyn_cast<llvm::DINamespace>(scope)) {
      const llvm::StringRef name = space->getName();
      prefix.insert(0, (name.empty() ? "(anonymous namespace)" : name.str()) + "::");
    } else if (const auto* type = llvm::dyn_cast<llvm::DICompositeType>(scope)) {
      if (!type->getName().empty()) prefix.insert(0, type->getName().str() + "::");
    } else {
      break;
    }
  }
  return prefix;
}

namespace {

const char* kind_of(const llvm::DICompositeType* type) {
  switch (type->getTag()) {
    case dwarf::DW_TAG_class_type:
      return "class";
    case dwarf::DW_TAG_union_type:
      return "union";
    case dwarf::DW_TAG_enumeration_type:
      return "enum";
    default:
      return "struct";
  }
}

std::string with_mark(const std::string& base, const char* mark) {
  return base + (base.ends_with('*') || base.ends_with('&') ? "" : " ") + mark;
}

std::string counts_of(const llvm::DICompositeType* array) {
  std::string text;
  for (const llvm::DINode* element : array->getElements()) {
    const auto* range = llvm::dyn_cast<llvm::DISubrange>(element);
    const auto bound = range ? range->getCount() : llvm::DISubrange::BoundType();
    const auto* count = llvm::dyn_cast_if_present<llvm::ConstantInt*>(bound);
    text += count && count->getSExtValue() >= 0 ? "[" + std::to_string(count->getSExtValue()) + "]"
                                                : std::string("[]");
  }
  return text;
}

}  // namespace

TypeNames::TypeNames(const llvm::DebugInfoFinder& types) {
  for (const llvm::DIType* type : types.types()) {
    if (const auto* composite = llvm::dyn_cast<llvm::DICompositeType>(type)) {
      if (!as_class(composite) || composite->isForwardDecl()) continue;
      if (!composite->getIdentifier().empty()) tagged_[composite->getIdentifier()] = composite;
      tagged_.try_emplace(composite->getName(), composite);
      // In an unnamed namespace no identifier exists; the demangled name is then unique.
      tagged_.try_emplace(scope_prefix(composite->getScope()) + composite->getName().str(),
                          composite);
    } else if (type->getTag() == dwarf::DW_TAG_typedef) {
      const auto* named = llvm::cast<llvm::DIDerivedType>(type)->getBaseType();
      if (named && named->getName().empty()) typedefs_.try_emplace(named, type->getName());
    }
  }
  tagged_.erase("");
}

const llvm::DICompositeType* TypeNames::tagged(llvm::StringRef name) const {
  const auto direct = tagged_.find(name);
  if (direct != tagged_.end()) return direct->second;
  if (!name.starts_with("_ZTS")) return nullptr;
  std::string readable = llvm::demangle(name);
  constexpr llvm::StringRef kPrefix = "typeinfo name for ";
  if (llvm::StringRef(readable).starts_with(kPrefix)) readable.erase(0, kPrefix.size());
  const auto found = tagged_.find(readable);
  return found == tagged_.end() ? nullptr : found->second;
}

const std::string& TypeNames::name(const llvm::DIType* type) {
  const auto known = names_.find(type);
  if (known != names_.end()) return known->second;
  return names_[type] = make(type);
}

std::string TypeNames::make(const llvm::DIType* type) {
  if (!type) return "void";
  if (const auto* derived = llvm::dyn_cast<llvm::DIDerivedType>(type)) return of_derived(derived);
  if (const auto* composite = llvm::dyn_cast<llvm::DICompositeType>(type))
    return of_composite(composite);
  if (const auto* function = llvm::dyn_cast<llvm::DISubroutineType>(type))
    return of_function(function);
  return type->getName().str();
}

std::string TypeNames::of_derived(const llvm::DIDerivedType* type) {
  const llvm::DIType* base = type->getBaseType();
  const auto qualified = [&](const char* word) {
    return pointee_of(base) ? name(base) + " " + word : std::string(word) + " " + name(base);
  };
  switch (type->getTag()) {
    case dwarf::DW_TAG_pointer_type: {
      if (!base || !llvm::isa<llvm::DISubroutineType>(base)) return with_mark(name(base), "*");
      std::string text = name(base);
      return text.insert(text.find('('), "(*)");
    }
    case dwarf::DW_TAG_reference_type:
      return with_mark(name(base), "&");
    case dwarf::DW_TAG_rvalue_reference_type:
      return with_mark(name(base), "&&");
    case dwarf::DW_TAG_const_type:
      return qualified("const");
    case dwarf::DW_TAG_volatile_type:
      return qualified("volatile");
    case dwarf::DW_TAG_restrict_type:
      return name(base);
    case dwarf::DW_TAG_atomic_type:
      return "_Atomic(" + name(base) + ")";
    case dwarf::DW_TAG_ptr_to_member_type:
      return name(base) + " " + name(type->getClassType()) + "::*";
    default:
      return scope_prefix(type->getScope()) + type->getName().str();
  }
}

std::string TypeNames::of_composite(const llvm::DICompositeType* type) {
  if (type->getTag() == dwarf::DW_TAG_array_type) {
    // Classes by their own name, which identifies their fields.
    const llvm::DIType* element = element_of(type);
    return name(as_class(element) ? strip(element) : element) + counts_of(type);
  }
  if (!type->getName().empty()) return scope_prefix(type->getScope()) + type->getName().str();
  const auto named = typedefs_.find(type);
  if (named != typedefs_.end()) return scope_prefix(type->getScope()) + named->second.str();
  return std::string("(unnamed ") + kind_of(type) + " at " +
         llvm::sys::path::filename(type->getFilename()).str() + ":" +
         std::to_string(type->getLine()) + ")";
}

std::string TypeNames::of_function(const llvm::DISubroutineType* type) {
  std::string text;
  const llvm::DITypeRefArray parts = type->getTypeArray();
  for (unsigned number = 0; number < parts.size(); ++number) {
    const std::string part =
        number + 1 == parts.size() && number && !parts[number] ? "..." : name(parts[number]);
    text += number == 0 ? part + " (" : (number == 1 ? "" : ", ") + part;
  }
  return text.empty() ? "void ()" : text + ")";
}

}  // namespace halo::pass
