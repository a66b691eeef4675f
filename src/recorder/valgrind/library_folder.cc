// Makes the core preload the library beside this tool, instead of that of an installed Valgrind,
// which may be missing or of another version. The core has its folder compiled in, unless
// VALGRIND_LIB names another one; that variable itself would also reach the program and a Valgrind
// that it starts.
#include "recorder/valgrind/api.h"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names for a wrapped function
HChar* __real_vgPlain_getenv(const HChar* name);
HChar* __wrap_vgPlain_getenv(const HChar* name);

HChar* __wrap_vgPlain_getenv(const HChar* name) {
  if (VG_(strcmp)(name, "VALGRIND_LIB") != 0) return __real_vgPlain_getenv(name);
  // The path of this tool (halo/record/valgrind.py); the core removes it for the program.
  const HChar* tool = __real_vgPlain_getenv("VALGRIND_LAUNCHER");
  static HChar folder[4096];  // as long as paths can be
  if (tool == nullptr || VG_(strlen)(tool) >= sizeof folder) return nullptr;
  VG_(strcpy)(folder, tool);
  HChar* slash = VG_(strrchr)(folder, '/');
  if (slash == nullptr) return nullptr;
  *slash = '\0';
  return folder;
}
// NOLINTEND(bugprone-reserved-identifier)
}
