#include "tracing/pass/type_notes.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <tuple>

#include "tracing/format/site.h"
#include "tracing/pass/members.h"

namespace halo::pass {
namespace {

trace::TypeNoteKind kind_of(const llvm::DICompositeType* type) {
  if (type->getTag() == llvm::dwarf::DW_TAG_union_type) return trace::TypeNoteKind::kUnion;
  if (type->getTag() == llvm::dwarf::DW_TAG_class_type) return trace::TypeNoteKind::kClass;
  return trace::TypeNoteKind::kStructure;
}

std::vector<const llvm::DIDerivedType*> fields_of(const llvm::DICompositeType* type) {
  auto fields = members_of(type);
  // Readers take the last field that starts at a byte: one with data, and the lowest bits.
  const auto place = [](const llvm::DIDerivedType* field) {
    return std::tuple(offset_of(field), !is_empty_class(field->getBaseType()),
                      -static_cast<int64_t>(field->getOffsetInBits()));
  };
  std::stable_sort(fields.begin(), fields.end(),
                   [&](const auto* left, const auto* right) { return place(left) < place(right); });
  fields.resize(std::min<size_t>(fields.size(), UINT16_MAX));
  return fields;
}

uint64_t field_bytes(const llvm::DIDerivedType* field) {
  const uint64_t bits = field->getSizeInBits();
  if (field->isBitField()) return (field->getOffsetInBits() % 8 + bits + 7) / 8;
  return bits ? bits / 8 : bytes_of(field->getBaseType());
}

// The type whose name tells how to read a scalar: of a typedef, the type behind it, unless the name
// is one of the C library's.
const llvm::DIType* scalar_of(const llvm::DIType* type) {
  static const llvm::StringSet<> telling = {
      "int8_t",  "int16_t",  "int32_t",  "int64_t",  "intptr_t",  "ssize_t", "ptrdiff_t",
      "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uintptr_t", "size_t"};
  const llvm::DIType* plain = strip(type);
  return llvm::isa_and_nonnull<llvm::DIBasicType>(plain) && !telling.contains(type->getName())
             ? plain
             : type;
}

// The class of a field, or of the elements of an array.
const llvm::DICompositeType* held_class(const llvm::DIType* type) {
  while (const llvm::DICompositeType* array = as_array(type)) type = element_of(array);
  return as_class(type);
}

}  // namespace

std::string path_of(const llvm::DIFile* file) {
  if (!file) return "";
  if (llvm::sys::path::is_absolute(file->getFilename()) || file->getDirectory().empty())
    return file->getFilename().str();
  return (file->getDirectory() + "/" + file->getFilename()).str();
}

Target TypeNotes::add(const llvm::DICompositeType* type) {
  if (!type) return {};
  if (!offsets_.contains(type)) write(type);
  return {Target::Section::kTypes, offsets_[type]};
}

void TypeNotes::write(const llvm::DICompositeType* type) {
  const auto fields = fields_of(type);
  offsets_[type] = static_cast<uint32_t>(words_.size() * 4);
  const auto text = [&](llvm::StringRef string) { return Word::of(strings_.add(string)); };
  words_.push_back(text(names_.name(type)));
  words_.push_back(Word::of(bytes_of(type)));
  words_.push_back(Word::of(static_cast<uint64_t>(kind_of(type)) | fields.size() << 16));
  words_.push_back(Word::of(type->getLine()));
  words_.push_back(text(path_of(type->getFile())));
  for (const llvm::DIDerivedType* field : fields) {
    const bool named = field->getTag() == llvm::dwarf::DW_TAG_member;
    // A nested class has its own name, whatever typedef declares the field.
    const llvm::DIType* base = field->getBaseType();
    words_.push_back(text(named ? field->getName() : ""));
    words_.push_back(text(names_.name(as_class(base) ? strip(base) : scalar_of(base))));
    words_.push_back(Word::of(offset_of(field)));
    words_.push_back(Word::of(field_bytes(field)));
  }
  for (const llvm::DIDerivedType* field : fields)
    if (const auto* inner = held_class(field->getBaseType())) add(inner);
}

}  // namespace halo::pass
