/* What the compiler's pass would make, by hand: a table of sites, and the hook called for them. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

struct site {
  uint8_t kind, alignment_log2;
  uint16_t size;
  uint32_t line, column;
  int32_t file, function, variable, type, owner;
  uint32_t owner_offset, element_size, reserved[2];
};

enum { LOAD = 1, STORE = 2, ENTER = 6, LEAVE = 7, ALLOCATION = 8 };

struct module_note {
  uint16_t version, site_size;
  uint32_t reserved;
  const char *sites, *sites_end, *types, *types_end, *strings, *strings_end;
};

void halo_log_v1(const struct site* site, uint64_t word1, uint64_t word2);
void halo_log_module_v1(const struct module_note* note);
void halo_log_module_gone_v1(const struct module_note* note);

/* As a compiler that knows preserve_all calls it: nothing is saved around the call. */
static inline void event(const struct site* site, uint64_t word1, uint64_t word2) {
  __asm__ volatile("call *halo_log_v1@GOTPCREL(%%rip)"
                   :
                   : "D"(site), "S"(word1), "d"(word2)
                   : "r11", "cc", "memory");
}

#ifndef LINE
#define LINE 12
#endif
#define STRINGS "walk\0node.next\0struct node *\0walk.c"

static struct {
  struct site sites[4];
  char strings[sizeof STRINGS];
} table = {{{.kind = LOAD, .size = 8, .line = LINE, .column = 7},
            {.kind = STORE, .size = 4, .line = 13, .column = 3},
            {.kind = ENTER, .line = 10, .column = 1},
            {.kind = LEAVE, .line = 15, .column = 1}},
           STRINGS};

static const struct module_note note = {1,
                                        sizeof(struct site),
                                        0,
                                        (const char*)table.sites,
                                        (const char*)(table.sites + 4),
                                        NULL,
                                        NULL,
                                        table.strings,
                                        table.strings + sizeof STRINGS};

__attribute__((constructor(101))) static void describe_module(void) {
  for (int i = 0; i < 4; ++i) {
    struct site* site = &table.sites[i];
    site->function = (int32_t)(table.strings - (char*)&site->function);
    site->file = (int32_t)(table.strings + 29 - (char*)&site->file);
    site->variable = (int32_t)(table.strings + 5 - (char*)&site->variable);
    site->type = (int32_t)(table.strings + 15 - (char*)&site->type);
  }
  halo_log_module_v1(&note);
}

__attribute__((destructor(101))) static void take_module_back(void) {
  halo_log_module_gone_v1(&note);
}
