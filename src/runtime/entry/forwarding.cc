// The fast paths of malloc and free for objects that are in no group.
#include <cstddef>
#include <type_traits>

#include "runtime/base/next.h"
#include "runtime/entry/assembly.h"
#include "runtime/identify/callers.h"
#include "runtime/pages/arena.h"

// They are written in assembly: no compiler keeps the path to the next allocator that short. The
// comments name the contents of registers.
namespace halo::runtime {

static_assert(kCallerSlots == 1u << 16 && sizeof caller_words[0] == 8);
static_assert(offsetof(Fallback, malloc) == 0 && offsetof(NextFunctions, free) == 24);
static_assert(std::is_standard_layout_v<Arena> && kPageShift == 16);

#define HALO_FORWARD(name, body) HALO_ASSEMBLY(name, ".p2align 6\n", body)

// The caller's word, if any, is passed as the second argument.
HALO_FORWARD("malloc",
             "movzwl (%rsp), %eax\n"
             "lea _ZN4halo7runtime12caller_wordsE(%rip), %rcx\n"
             "mov (%rcx,%rax,8), %rsi\n"
             "test %rsi, %rsi\n"
             "jne halo_serve_malloc\n"
             "jmp *_ZN4halo7runtime8fallbackE(%rip)\n");

// The page's index is passed as the second argument.
HALO_FORWARD("free",
             "mov %rdi, %rsi\n"
             "sub _ZN4halo7runtime5arenaE(%rip), %rsi\n"
             "shr $16, %rsi\n"
             "cmp _ZN4halo7runtime5arenaE+8(%rip), %rsi\n"
             "jb halo_release\n"
             "jmp *_ZN4halo7runtime4nextE+24(%rip)\n");

}  // namespace halo::runtime
