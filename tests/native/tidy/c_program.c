/* The C header in a C program: with a library, or with none of them (HALO_TIDY_OPTIONAL). */
#include <halo/tidy.h>
#include <stdio.h>

struct node {
  double x, y;
  struct node* next;
};

int main(void) {
  tidy_settings_t settings = {0};
  tidy_ctx_t* ctx;
  struct node* nodes = NULL;
  int i, sum = 0;
  settings.dimensions = 2;
  ctx = tidy_create(&settings);
  for (i = 0; i < 1000; ++i) {
    struct node* node =
        (struct node*)tidy_alloc(ctx, sizeof *node, tidy_grid2(i % 30, i / 30, 0.5));
    if (node == NULL) return 1;
    node->x = i;
    node->next = nodes;
    nodes = node;
  }
  while (nodes != NULL) {
    struct node* next = nodes->next;
    sum += (int)nodes->x;
    tidy_free(nodes);
    nodes = next;
  }
  tidy_free(tidy_malloc(24, tidy_f64_key(1.5) ^ tidy_f32_key(1.5f)));
  tidy_destroy(ctx);
  printf("%d\n", sum);
  return sum == 499500 ? 0 : 1;
}
