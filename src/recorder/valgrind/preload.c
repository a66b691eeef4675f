// Valgrind's core preloads a library of its own into the program, which halo's tool does not need.
// This one takes its place, so that recording does not depend on an installed Valgrind.
typedef int HaloValgrindPreload;  // C forbids an empty file
