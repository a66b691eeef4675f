/* Tidy for code that a compiler has rewritten: hints are made from values of the new object by
 * rules (docs/hints.md, "Without a change of the source"). Not for programs to call themselves.
 */
#ifndef HALO_TIDY_RULES_H
#define HALO_TIDY_RULES_H

#include <halo/tidy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): this is C. */

/* The type of a value. */
typedef enum tidy_kind {
  TIDY_I8,
  TIDY_U8,
  TIDY_I16,
  TIDY_U16,
  TIDY_I32,
  TIDY_U32,
  TIDY_I64,
  TIDY_U64,
  TIDY_F32,
  TIDY_F64,
  TIDY_KINDS
} tidy_kind_t;

/* An element of a hint: the number of the interval of that width that has the value. */
typedef struct tidy_key {
  double width;
  unsigned kind; /* tidy_kind_t */
  int behind; /* bytes from where the given pointer points to the value; -1: it is given itself */
} tidy_key_t;

/* Objects that are larger are not placed. */
#define TIDY_RULE_MAX_BYTES 1024

/* The functions by which the code allocates and frees objects, as it calls them. */
typedef struct tidy_functions {
  void* (*allocate)(size_t);            /* malloc or operator new */
  void (*release)(void*);               /* free or operator delete */
  void (*release_sized)(void*, size_t); /* operator delete with a size, or NULL */
} tidy_functions_t;

/* How the objects of a type are placed. Rules of one context have equally many dimensions. */
typedef struct tidy_rule {
  const tidy_functions_t* functions;
  tidy_ctx_t** context; /* NULL until the first object */
  void** spare;         /* a block that no object has; NULL at first */
  uint64_t identity;    /* of the context: what is loaded again uses it again */
  unsigned bytes;       /* of an object */
  unsigned dimensions;
  tidy_key_t keys[TIDY_MAX_DIMENSIONS];
} tidy_rule_t;

/* The first half of an allocation: memory for an object, aligned to 16. NULL if Tidy does not serve
 * it; the code then calls its allocator, as it would without a hint. That is so unless the
 * functions are malloc or operator new of the C or C++ library, and free or operator delete of this
 * library. Once it has served, the allocation cannot fail: so the code may read values of the
 * object that it reads after a successful allocation. */
HALO_TIDY_FUNCTION void* tidy_reserve(const tidy_rule_t* rule);

/* The second half: the memory for the object, never NULL. `values` has the bytes of a value for
 * each dimension, zero-extended. A pointer to memory that is not Tidy's is not followed: the object
 * then has no hint. */
HALO_TIDY_FUNCTION void* tidy_place(const tidy_rule_t* rule, void* reserved,
                                    const uint64_t* values);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif
