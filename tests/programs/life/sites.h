// Allocation sites in a library of their own, so that one plan serves every program of this folder.
#pragma once

#include <malloc.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Three groups: one identified by malloc's caller, two by the third return address only. Groups are
// numbered in this order.
void* near_make(size_t bytes);
void* left_make(size_t bytes);
void* right_make(size_t bytes);

// In the group of near_make, by calloc and by realloc.
void* cleared_make(size_t bytes);
void* resized(void* p, size_t bytes);

// Ends before left_make and right_make are distinguished: called from elsewhere, in no group.
void* between(size_t bytes);

void release_block(void* p);

// A size that shows the allocator: glibc has 40 usable bytes for it, a group 32.
enum { object_bytes = 32 };

static inline int is_grouped(void* p) { return malloc_usable_size(p) == object_bytes; }

#ifdef __cplusplus
}
#endif
