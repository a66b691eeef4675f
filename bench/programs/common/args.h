// Reads a workload's input: whole numbers on the command line.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Argument {
  const char* name;
  long minimum;
  long maximum;
  long value;  // the parsed value; initially the default, if any
} Argument;

// Fills in all `count` values. Anything else than `count` numbers within their limits ends the
// program with one sentence on stderr and exit code 2.
void read_arguments(int argc, char** argv, Argument* arguments, int count);
// The same, but no arguments at all leave the values as they are.
void read_arguments_if_any(int argc, char** argv, Argument* arguments, int count);

#ifdef __cplusplus
}
#endif
