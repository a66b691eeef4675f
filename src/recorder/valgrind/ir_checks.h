// Whether the translator checks its intermediate code.
#pragma once

namespace halo::valgrind {

extern bool check_ir;

}  // namespace halo::valgrind
