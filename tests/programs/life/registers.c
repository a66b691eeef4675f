// Values in every kind of return register are kept across the allocations and walks below.
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"

struct pair {
  long a, b;
};
struct mixed {
  double x;
  long n;
};
struct wide {
  long v[5];
};

static int grouped;

static void use(void) {
  void* p = left_make(object_bytes);
  grouped += is_grouped(p);
  free(p);
}

#define RETURNS(name, type, expression) \
  static type name(int i) {             \
    use();                              \
    type value = expression;            \
    use();                              \
    return value;                       \
  }

RETURNS(real, double, i + 0.5)
RETURNS(single, float, i + 0.25f)
RETURNS(extended, long double, i + 0.125L)
RETURNS(both, double complex, i - 2.0 * i * I)
RETURNS(large, __int128, ((__int128)i << 64) - i)
RETURNS(two, struct pair, ((struct pair){i, -i}))
RETURNS(each, struct mixed, ((struct mixed){i * 0.5, i}))
RETURNS(in_memory, struct wide, ((struct wide){{i, 1, 2, 3, i + 4}}))

int main(void) {
  int wrong = 0;
  for (int i = 1; i <= 200; ++i) {
    double a = i;
    wrong += real(i) != a + 0.5;
    wrong += single(i) != (float)a + 0.25f;
    wrong += extended(i) != a + 0.125L;
    wrong += __real__ both(i) != a || __imag__ both(i) != -2 * a;
    wrong += (long)(large(i) >> 64) != i - 1 || (long)large(i) != -i;
    wrong += two(i).a != i || two(i).b != -i;
    wrong += each(i).x != a / 2 || each(i).n != i;
    wrong += in_memory(i).v[4] != i + 4;
  }
  printf("%d wrong, %d grouped\n", wrong, grouped);
}
