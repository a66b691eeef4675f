// The training program of the shared plan: every site, the earlier ones more often, so that the
// contexts of the profile are in the order of sites.h.
#include "sites.h"

int main(void) {
  for (int i = 0; i < 5000; ++i) drop(near_make(object_bytes));
  for (int i = 0; i < 4000; ++i) drop(left_make(object_bytes));
  for (int i = 0; i < 3000; ++i) drop(right_make(object_bytes));
  for (int i = 0; i < 2000; ++i) drop(cleared_make(object_bytes));
  for (int i = 0; i < 1000; ++i) drop(resized(NULL, object_bytes));
}
