/* SPDX-License-Identifier: MIT
 *
 * arch/switch_x86_64.S - where contexts begin, and calls that can be left, on x86-64 (System V ABI).
 *
 * The switch itself is inline assembly in arch/context.h: no registers but rbp, the stack pointer and the place to go on
 * at, because the compiler saves whatever else it has in use. The resume is an indirect jump and not a ret, because the
 * return predictor would miss every time. mxcsr and the x87 control word belong to the thread; fibers that want their own
 * are handled in C.
 *
 * There is no shadow-stack property in this object on purpose: the linker then keeps CET shadow stacks off, which the
 * switches do not maintain.
 */
    .text

/* Where a new context begins: the entry function and its argument lie on top of the stack, whose end is aligned. The
 * return address is undefined and the frame pointer zero, so that every unwinder stops here. The entry function is jumped
 * to and not called: it never returns, and a call would leave an entry in the processor's stack of return addresses that
 * spoils the prediction of every return after the next switch. The nop puts the return address inside this function for
 * unwinders, which look at the byte before it. */
    .globl wf_arch_thunk
    .hidden wf_arch_thunk
    .type wf_arch_thunk, @function
    .p2align 4
wf_arch_thunk:
    .cfi_startproc
    .cfi_def_cfa rsp, 8
    .cfi_undefined rip
    .cfi_undefined rbp
    endbr64
    xorl %ebp, %ebp
    popq %rax
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    leaq .Lreturned(%rip), %rcx
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    jmp *%rax
    nop
    .cfi_adjust_cfa_offset -8
.Lreturned:
    ud2
    .cfi_endproc
    .size wf_arch_thunk, . - wf_arch_thunk

/* int wf_arch_guarded_call(struct wf_guarded *guarded, void (*fn)(void *), void *arg)
 * guarded->mark is the stack pointer of this frame; an exception that arrives here goes to guarded->exception. */
    .globl wf_arch_guarded_call
    .hidden wf_arch_guarded_call
    .type wf_arch_guarded_call, @function
    .p2align 4
wf_arch_guarded_call:
    .cfi_startproc
    .cfi_personality 0x1b, wf_arch_personality
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    pushq %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r12, 0
    pushq %r13
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r13, 0
    pushq %r14
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r14, 0
    pushq %r15
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r15, 0
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    movq %rsp, (%rdi)
    movq %rdx, %rdi
    call *%rsi
    xorl %eax, %eax
.Lleave:
    addq $8, %rsp
    .cfi_remember_state
    .cfi_adjust_cfa_offset -8
    popq %r15
    .cfi_adjust_cfa_offset -8
    .cfi_restore r15
    popq %r14
    .cfi_adjust_cfa_offset -8
    .cfi_restore r14
    popq %r13
    .cfi_adjust_cfa_offset -8
    .cfi_restore r13
    popq %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore r12
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbp
    ret
    .cfi_restore_state

/* The unwinder comes here with the stack pointer of the frame and the exception in rax. */
    .globl wf_arch_guarded_landing
    .hidden wf_arch_guarded_landing
wf_arch_guarded_landing:
    movq (%rsp), %rdi
    movq %rax, 8(%rdi)
    movl $2, %eax
    jmp .Lleave

/* void wf_arch_guarded_return(struct wf_guarded *guarded, int value): leaves every frame above the guarded call. */
    .globl wf_arch_guarded_return
    .hidden wf_arch_guarded_return
wf_arch_guarded_return:
    movq (%rdi), %rsp
    movl %esi, %eax
    jmp .Lleave
    .cfi_endproc
    .size wf_arch_guarded_call, . - wf_arch_guarded_call

    .section .note.GNU-stack, "", @progbits
