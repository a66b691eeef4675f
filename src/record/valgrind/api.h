// The interface of Valgrind's core for tools, as its package has it, for C++.
//
// A tool is linked statically with the core and has no C library: neither it nor what it uses of
// C++ may need one.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
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

// Of pub_tool_libcproc.h, which includes a header that Debian 12's package lacks.
Int VG_(getpid)(void);
void VG_(atfork)(void (*pre)(ThreadId), void (*parent)(ThreadId), void (*child)(ThreadId));
// Of the core: moves a descriptor to where the program can neither see nor close it.
Int VG_(safe_fd)(Int descriptor);
}
#undef NULL
#pragma GCC diagnostic pop
