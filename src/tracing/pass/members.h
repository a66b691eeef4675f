// The member of a type at an offset, from debug information.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>

#include <string>
#include <vector>

namespace halo::pass {

// Without typedefs and qualifiers; null is void.
const llvm::DIType* strip(const llvm::DIType* type);
// 0 if unknown.
uint64_t bytes_of(const llvm::DIType* type);
// The target type of a pointer or a reference; null if it is neither, or for void.
const llvm::DIType* pointee_of(const llvm::DIType* type);
// As a class, structure or union; null if it is none.
const llvm::DICompositeType* as_class(const llvm::DIType* type);
// As an array; null if it is none. A vector type is not an array.
const llvm::DICompositeType* as_array(const llvm::DIType* type);
const llvm::DIType* element_of(const llvm::DICompositeType* array);

// Base classes and data members, in the order of declaration.
std::vector<const llvm::DIDerivedType*> members_of(const llvm::DICompositeType* type);
// Without data, so that another object may have the same address.
bool is_empty_class(const llvm::DIType* type);
// Bytes from the start of its class; of a bit-field, the byte in which it starts.
uint64_t offset_of(const llvm::DIDerivedType* member);

// A class on the path to a member, and its offset.
struct Step {
  const llvm::DICompositeType* type;
  int64_t begin;
};

struct Descent {
  const llvm::DIType* type = nullptr;  // of the innermost member found
  std::string path;                    // ".pos.x", ".list[].next", "[]", ""
  std::vector<Step> steps;             // outermost first
};

// Descends to the first scalar, or to the member that `size` bytes fill. An access outside all
// members ends at the innermost class around it.
Descent descend(const llvm::DIType* type, int64_t offset, uint64_t size);

// Wraps an offset that pointer arithmetic moved beyond one object.
int64_t within(const llvm::DIType* type, int64_t offset);

// Whether the class has an array with elements of that size at the offset.
bool in_array(const llvm::DIType* type, int64_t offset, uint64_t step);

// `within` for pointer arithmetic with an unknown index: `a->list[i - 1]` may seem to access the
// member before the list. `step` is the size of an element.
int64_t within_array(const llvm::DIType* type, int64_t offset, uint64_t step);

}  // namespace halo::pass
