// Which member of a type lies at an offset, by debug information.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>

#include <string>
#include <vector>

namespace halo::pass {

// Without typedefs and qualifiers; null is void.
const llvm::DIType* strip(const llvm::DIType* type);
// 0 where it is not known.
uint64_t bytes_of(const llvm::DIType* type);
// What a pointer or a reference points to; null where it is none of them, or points to void.
const llvm::DIType* pointee_of(const llvm::DIType* type);
// As a class, structure or union; null where it is none.
const llvm::DICompositeType* as_class(const llvm::DIType* type);
// As an array; null where it is none. A vector of the processor is none.
const llvm::DICompositeType* as_array(const llvm::DIType* type);
const llvm::DIType* element_of(const llvm::DICompositeType* array);

// Bases and data members, in the order of the declaration.
std::vector<const llvm::DIDerivedType*> members_of(const llvm::DICompositeType* type);
// Without data, so that something else may lie at the same place.
bool is_empty_class(const llvm::DIType* type);
// Bytes from the beginning of its class; of a bit-field the byte that it begins in.
uint64_t offset_of(const llvm::DIDerivedType* member);

// A class on the way down to a member, and where it begins.
struct Step {
  const llvm::DICompositeType* type;
  int64_t begin;
};

struct Descent {
  const llvm::DIType* type = nullptr;  // of the innermost member found
  std::string path;                    // ".pos.x", ".list[].next", "[]", ""
  std::vector<Step> steps;             // outermost first
};

// Down to the first scalar, or to what `size` bytes fill. An access beside all members ends at the
// innermost class around it.
Descent descend(const llvm::DIType* type, int64_t offset, uint64_t size);

// An offset within one object, for one that pointer arithmetic took past it.
int64_t within(const llvm::DIType* type, int64_t offset);

// Whether an array with elements of so many bytes lies there in a class.
bool in_array(const llvm::DIType* type, int64_t offset, uint64_t step);

// `within` for pointer arithmetic with an index that is not known: `a->list[i - 1]` may look as if
// it went to what lies in front of the list. `step` is the bytes of an element.
int64_t within_array(const llvm::DIType* type, int64_t offset, uint64_t step);

}  // namespace halo::pass
