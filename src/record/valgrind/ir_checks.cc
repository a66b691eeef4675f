// Around the translator's checks of its intermediate code, by the linker's --wrap: three times for
// each superblock they took a tenth of the time of translating. The tests ask for them.
#include "record/valgrind/ir_checks.h"

#include "record/valgrind/api.h"

namespace halo::record::valgrind {

bool check_ir = false;

}  // namespace halo::record::valgrind

extern "C" {
void __real_sanityCheckIRSB(const IRSB*, const HChar*, Bool, IRType);
void __wrap_sanityCheckIRSB(const IRSB*, const HChar*, Bool, IRType);

void __wrap_sanityCheckIRSB(const IRSB* block, const HChar* caller, Bool flat, IRType word) {
  if (halo::record::valgrind::check_ir) __real_sanityCheckIRSB(block, caller, flat, word);
}
}
