/* SPDX-License-Identifier: MIT
 *
 * arch/call_aarch64.S - a call whose callee runs on another stack, on aarch64 (AAPCS64).
 *
 * One frame with its two ends on two stacks. The upper end, on the caller's:
 *
 *     x29 + 16  .Lhome
 *     x29       x29 and return address of the caller
 *
 * Everything is found through x29, which the callee preserves. The two frames that unwinders see, the first of them marked
 * as a signal's, are explained in call_x86_64.S. The address of .Lhome lies in memory, although x30 has one near it: the
 * callee may have signed that one.
 */
    .text

/* void wf_arch_call_on(void *sp, void (*fn)(void *), void *arg) */
    .globl wf_arch_call_on
    .hidden wf_arch_call_on
    .type wf_arch_call_on, %function
    .p2align 4
wf_arch_call_on:
    .cfi_startproc
    hint #34 /* bti c */
    stp x29, x30, [sp, #-32]!
    .cfi_adjust_cfa_offset 32
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    .cfi_def_cfa_register x29
    adr x9, .Lhome
    str x9, [sp, #16]
    mov sp, x0
    mov x0, x2
    .cfi_endproc

    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa x29, 0
    .cfi_offset x30, 16
    blr x1
    mov sp, x29
    .cfi_endproc

    .cfi_startproc
    .cfi_def_cfa sp, 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
.Lhome:
    ldp x29, x30, [sp], #32
    .cfi_adjust_cfa_offset -32
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size wf_arch_call_on, . - wf_arch_call_on

    .section .note.GNU-stack, "", %progbits
