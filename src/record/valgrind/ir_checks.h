// Whether the translator checks the intermediate code that it makes and is given.
#pragma once

namespace halo::record::valgrind {

extern bool check_ir;

}  // namespace halo::record::valgrind
