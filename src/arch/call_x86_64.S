/* SPDX-License-Identifier: MIT
 *
 * arch/call_x86_64.S - a call whose callee runs on another stack, on x86-64 (System V ABI).
 *
 * One frame with its two ends on two stacks. The upper end, on the caller's:
 *
 *     rbp + 8  return address
 *     rbp      rbp of the caller
 *     rbp - 8  .Lhome
 *
 * Everything is found through rbp, which the callee preserves, so there is nothing to look for on the other stack, and the
 * call and its return are a pair as the return predictor wants it.
 *
 * For unwinders there are two frames. gdb takes a caller whose frame lies below its callee's for a corrupt stack and stops,
 * but not at a frame that is marked as a signal's: such a one may continue anywhere. So the instructions from the call to
 * the change of stacks are marked, and described as what they are: something that goes on at .Lhome with the stack pointer
 * at rbp. The frame at .Lhome is an ordinary one: were it not, unwinders would take its return address for the address of an
 * interrupted instruction, and miss the landing pad of a caller that ends with the call. gdb shows the marked frame as
 * "<signal handler called>".
 *
 * No shadow-stack property here either: see switch_x86_64.S.
 */
    .text

/* void wf_arch_call_on(void *sp, void (*fn)(void *), void *arg) */
    .globl wf_arch_call_on
    .hidden wf_arch_call_on
    .type wf_arch_call_on, @function
    .p2align 6 /* one cache line holds all of it: a fifth of the cost */
wf_arch_call_on:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    leaq .Lhome(%rip), %rax
    pushq %rax
    movq %rdi, %rsp
    movq %rdx, %rdi
    .cfi_endproc

    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa rbp, 0
    .cfi_offset rip, -8
    call *%rsi
    movq %rbp, %rsp
    .cfi_endproc

    .cfi_startproc
    .cfi_def_cfa rsp, 16
    .cfi_offset rbp, -16
.Lhome:
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size wf_arch_call_on, . - wf_arch_call_on

    .section .note.GNU-stack, "", @progbits
