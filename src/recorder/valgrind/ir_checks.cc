// Skips the translator's checks of its intermediate code, by the linker's --wrap.
#include "recorder/valgrind/ir_checks.h"

#include "recorder/valgrind/api.h"

namespace halo::valgrind {

bool check_ir = false;

}  // namespace halo::valgrind

// The translator runs them three times per superblock, a tenth of its time. Tests enable them.
extern "C" {
void __real_sanityCheckIRSB(const IRSB*, const HChar*, Bool, IRType);
void __wrap_sanityCheckIRSB(const IRSB*, const HChar*, Bool, IRType);

void __wrap_sanityCheckIRSB(const IRSB* block, const HChar* caller, Bool flat, IRType word) {
  if (halo::valgrind::check_ir) __real_sanityCheckIRSB(block, caller, flat, word);
}
}
