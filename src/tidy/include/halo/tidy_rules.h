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

/* How the objects of a type are placed. Rules of one context have equally many dimensions. */
typedef struct tidy_rule {
  tidy_ctx_t** context; /* NULL until the first object */
  unsigned dimensions;
  unsigned reserved;
  tidy_key_t keys[TIDY_MAX_DIMENSIONS];
} tidy_rule_t;

/* Memory for an object; `values` has the bytes of a value for each dimension, zero-extended. A
 * pointer to memory that is not Tidy's is not followed: the object then has no hint. What Tidy does
 * not serve is what `otherwise` returns. */
HALO_TIDY_FUNCTION void* tidy_alloc_by_rule(const tidy_rule_t* rule, size_t size,
                                            const uint64_t* values, void* (*otherwise)(size_t));

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif
