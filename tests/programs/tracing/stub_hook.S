// The hook of the stub logger: keeps every register but r11, as the convention asks, and calls C.
        .text
        .globl  halo_log_v1
        .type   halo_log_v1, @function
halo_log_v1:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        subq    $4096, %rsp
        andq    $-64, %rsp
        // xrstor wants a header of zeros. 0xe7: x87, SSE, AVX and AVX-512 state, which fit.
        movq    $0, 512(%rsp)
        movq    $0, 520(%rsp)
        movq    $0, 528(%rsp)
        movq    $0, 536(%rsp)
        movq    $0, 544(%rsp)
        movq    $0, 552(%rsp)
        movq    $0, 560(%rsp)
        movq    $0, 568(%rsp)
        movq    -24(%rbp), %r11
        movl    $0xe7, %eax
        xorl    %edx, %edx
        xsave   (%rsp)
        movq    %r11, %rdx
        cld
        call    stub_event
        movl    $0xe7, %eax
        xorl    %edx, %edx
        xrstor  (%rsp)
        leaq    -64(%rbp), %rsp
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   halo_log_v1, .-halo_log_v1
        .section .note.GNU-stack,"",@progbits
