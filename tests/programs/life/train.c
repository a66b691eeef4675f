// What the shared plan is made from: every site, the earlier ones more often, so that the contexts
// of the profile come in the order of sites.h.
#include "sites.h"

int main(void) {
  for (int i = 0; i < 5000; ++i) give_back(near_make(object_bytes));
  for (int i = 0; i < 4000; ++i) give_back(left_make(object_bytes));
  for (int i = 0; i < 3000; ++i) give_back(right_make(object_bytes));
  for (int i = 0; i < 2000; ++i) give_back(cleared_make(object_bytes));
  for (int i = 0; i < 1000; ++i) give_back(resized(NULL, object_bytes));
}
