// Types of objects with a different verdict of `halo study hints` each. Objects of most types
// belong to one of GROUPS groups and are used with others of their group.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 10, MEMBERS = 30, COUNT = GROUPS * MEMBERS, STEPS = 4000 };

typedef double coordinate;

// The key, which is known at birth, says the group.
struct keyed {
  coordinate key;
  uint32_t visits;
};
// Allocated group by group.
struct ascending {
  double key;
  uint32_t visits;
};
// The group is written when all objects are there.
struct late {
  uint32_t number;
  uint32_t group;
};
// Used without regard to its key.
struct shuffled {
  double key;
  uint32_t constant;
};
// The size says the group.
struct sized {
  uint32_t head[12];
  uint32_t data[];
};
// Copied from place to place.
struct record {
  uint32_t first, second, third;
};
// Elements of one array.
struct bucket {
  uint64_t key;
  uint32_t count;
};

static struct keyed* all_keyed[COUNT];
static struct ascending* all_ascending[COUNT];
static struct late* all_late[COUNT];
static struct shuffled* all_shuffled[COUNT];
static struct sized* all_sized[COUNT];
static struct record* all_records[COUNT];
static unsigned char* all_buffers[COUNT];

static uint32_t state = 1;

static uint32_t below(uint32_t limit) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)state * limit >> 32);
}

static uint32_t group_of[COUNT];         // by object
static uint32_t members[GROUPS][COUNT];  // objects of each group
static uint32_t sizes[GROUPS];

static void form_groups(int ascending) {
  for (uint32_t group = 0; group < GROUPS; ++group) sizes[group] = 0;
  for (uint32_t at = 0; at < COUNT; ++at) {
    const uint32_t group = ascending ? at / MEMBERS : below(GROUPS);
    group_of[at] = group;
    members[group][sizes[group]++] = at;
  }
}

static double key_of(uint32_t at) { return group_of[at] * 10.0 + below(1000) / 100.0; }

// Steps through the objects of one group after the other, at random.
#define WALK(OBJECTS, USE)                                                         \
  for (uint32_t group = 0; group < GROUPS; ++group)                                \
    for (int step = 0; step < STEPS; ++step) {                                     \
      __typeof__(*(OBJECTS)) one = (OBJECTS)[members[group][below(sizes[group])]]; \
      USE;                                                                         \
    }

static void use_keyed(void) {
  form_groups(0);
  for (uint32_t at = 0; at < COUNT; ++at) {
    all_keyed[at] = malloc(sizeof(struct keyed));
    all_keyed[at]->key = key_of(at);
    all_keyed[at]->visits = 0;
  }
  WALK(all_keyed, one->visits += one->key > 0)
}

static void use_ascending(void) {
  form_groups(1);
  for (uint32_t at = 0; at < COUNT; ++at) {
    all_ascending[at] = malloc(sizeof(struct ascending));
    all_ascending[at]->key = key_of(at);
    all_ascending[at]->visits = 0;
  }
  WALK(all_ascending, one->visits += one->key > 0)
}

static void use_late(void) {
  form_groups(0);
  for (uint32_t at = 0; at < COUNT; ++at) {
    all_late[at] = malloc(sizeof(struct late));
    all_late[at]->number = below(COUNT);
  }
  for (uint32_t at = 0; at < COUNT; ++at) all_late[at]->group = group_of[at];
  WALK(all_late, state += one->group)
}

static void use_shuffled(void) {
  form_groups(0);
  for (uint32_t at = 0; at < COUNT; ++at) {
    all_shuffled[at] = malloc(sizeof(struct shuffled));
    all_shuffled[at]->key = below(1000);
    all_shuffled[at]->constant = 0;
  }
  WALK(all_shuffled, state += one->key < 0)
}

static void use_sized(void) {
  form_groups(0);
  for (uint32_t at = 0; at < COUNT; ++at) {
    all_sized[at] = malloc(sizeof(struct sized) + sizeof(uint32_t) * (1 + group_of[at]));
    all_sized[at]->head[0] = 1;
  }
  WALK(all_sized, state += one->head[0])
}

static void use_records(void) {
  form_groups(0);
  for (uint32_t at = 0; at < COUNT; ++at) {
    all_records[at] = malloc(sizeof(struct record));
    all_records[at]->first = at;
  }
  WALK(all_records, *one = *all_records[members[group][0]])
}

static void use_table(void) {
  struct bucket* table = malloc(COUNT * sizeof *table);
  for (uint32_t at = 0; at < COUNT; ++at) table[at] = (struct bucket){at, 0};
  for (int step = 0; step < GROUPS * STEPS; ++step) ++table[below(COUNT)].count;
  printf("%u\n", table[0].count);
}

static void use_buffers(void) {
  form_groups(0);
  for (uint32_t at = 0; at < COUNT; ++at) all_buffers[at] = malloc(64);
  WALK(all_buffers, ++one[below(64)])
}

int main(void) {
  use_keyed();
  use_ascending();
  use_late();
  use_shuffled();
  use_sized();
  use_records();
  use_table();
  use_buffers();
  printf("%u\n", state);
}
