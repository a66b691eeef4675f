// Reads a workload's input: whole numbers on the command line.
#include "common/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { kUsageError = 2 };

static _Noreturn void fail_with_usage(const char* program, const Argument* arguments, int count) {
  fprintf(stderr, "%s: expected %d whole numbers:", program, count);
  for (int i = 0; i < count; ++i) {
    const Argument* argument = &arguments[i];
    fprintf(stderr, "%s %s (%ld to %ld)", i == 0 ? "" : ",", argument->name, argument->minimum,
            argument->maximum);
  }
  fprintf(stderr, ".\n");
  exit(kUsageError);
}

void read_arguments(int argc, char** argv, Argument* arguments, int count) {
  const char* program = argc > 0 ? argv[0] : "workload";
  if (argc != count + 1) {
    fail_with_usage(program, arguments, count);
  }
  for (int i = 0; i < count; ++i) {
    const char* text = argv[i + 1];
    char* end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < arguments[i].minimum ||
        value > arguments[i].maximum) {
      fail_with_usage(program, arguments, count);
    }
    arguments[i].value = value;
  }
}

void read_arguments_if_any(int argc, char** argv, Argument* arguments, int count) {
  if (argc > 1) {
    read_arguments(argc, argv, arguments, count);
  }
}
