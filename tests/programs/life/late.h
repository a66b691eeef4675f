// A library whose destructor runs after the runtime's own.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Frees `p` as the very last.
void late_free(void* p);

#ifdef __cplusplus
}
#endif
