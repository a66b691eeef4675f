// Stands for the C library when a preloaded library is linked (old_symbols.h): defines, without a version, the
// functions that moved into it from other libraries. References with a version would name the file they are in.
.macro moved names:vararg
.irp name, \names
.globl \name
.type \name, @function
\name: ret
.endr
.endm

.text
moved dladdr, dladdr1, dlsym, dlvsym
moved pthread_key_create, pthread_key_delete, pthread_once, pthread_setspecific
.section .note.GNU-stack, "", @progbits
