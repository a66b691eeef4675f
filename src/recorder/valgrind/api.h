// The C++ view of the interface of Valgrind's core for tools.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
// A tool is linked statically with the core and has no C library: neither it nor the parts of C++
// that it uses may need one.
extern "C" {
#include <libvex_guest_amd64.h>
#include <libvex_ir.h>
#include <pub_tool_aspacemgr.h>
#include <pub_tool_basics.h>
#include <pub_tool_clreq.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_machine.h>
#include <pub_tool_options.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_tooliface.h>

// From pub_tool_libcproc.h, which includes a header that Debian 12's package lacks.
Int VG_(getpid)(void);
void VG_(atfork)(void (*pre)(ThreadId), void (*parent)(ThreadId), void (*child)(ThreadId));
// From the core: moves a descriptor to a number that the program can neither see nor close.
Int VG_(safe_fd)(Int descriptor);
SysRes VG_(mk_SysRes_Error)(UWord error);
// Likewise: whether nothing is mapped or reserved there.
Bool VG_(am_covered_by_single_free_segment)(Addr begin, SizeT bytes);
}
#undef NULL
#pragma GCC diagnostic pop
