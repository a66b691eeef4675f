// Lists, arrays, unions, bit-fields and nested structures, for the names of accesses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct position {
  double x, y;
};
struct node {
  struct node* next;
  int key;
  unsigned low : 3, high : 7;
  struct position pos;
};
typedef struct {
  int* offsets;
  long count;
} graph;
union word {
  long whole;
  float part;
};

static int total;
static int table[8];
struct node* head;
union word shared;

__attribute__((noinline)) static struct node* push(int key) {
  struct node* node = malloc(sizeof *node);
  node->key = key;
  node->high = 5;
  node->next = head;
  head = node;
  return node;
}

__attribute__((noinline)) static void fill(graph* graph, int count) {
  graph->offsets = calloc(count, sizeof *graph->offsets);
  graph->count = count;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < graph->count; ++i) graph->offsets[i] = i * 3;
}

__attribute__((noinline)) static void move(struct position* position) { position->y += 2; }

__attribute__((noinline)) static int sum(const struct node* node) {
  int keys = 0;
  for (; node; node = node->next) keys += node->key;
  return keys;
}

int main(int count, char** arguments) {
  graph graph;
  (void)arguments;
  push(count + 40);
  struct node* node = push(7);
  node->pos.x = 1.5;
  move(&node->pos);
  fill(&graph, 4);
  table[count] = graph.offsets[3];
  total = sum(head) + table[1];
  shared.part = 0.5f;
  struct node copy = *node;
  struct node* volatile kept = &copy;
  printf("%d %d\n", total, kept->key);
  return 0;
}
