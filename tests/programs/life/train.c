// The training program of the shared plan: every site, the earlier ones more often, so that the
// contexts of the profile are in the order of sites.h.
#include "sites.h"

int main(void) {
  for (int i = 0; i < 5000; ++i) release_block(near_make(object_bytes));
  for (int i = 0; i < 4000; ++i) release_block(left_make(object_bytes));
  for (int i = 0; i < 3000; ++i) release_block(right_make(object_bytes));
  for (int i = 0; i < 2000; ++i) release_block(cleared_make(object_bytes));
  for (int i = 0; i < 1000; ++i) release_block(resized(NULL, object_bytes));
}
