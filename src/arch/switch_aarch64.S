/* SPDX-License-Identifier: MIT
 *
 * arch/switch_aarch64.S - changing stacks on aarch64 (AAPCS64).
 *
 * A suspended context is a stack pointer; below it lie, lowest address first:
 *
 *     sp -> x19..x28  x29 x30  d8..d15          (160 bytes)
 *
 * The low halves of v8 to v15 are callee-saved, so they travel too. FPCR belongs to the thread; fibers that want their
 * own are handled in C. The return address is neither signed nor checked in here: PAC pairs stay within C functions. The
 * resume is an indirect branch, so a landing pad (bti j, a hint on older cores) stands where a new context begins.
 */
    .text

    .macro SAVE_ALL
    sub sp, sp, #160
    .cfi_adjust_cfa_offset 160
    stp x19, x20, [sp, #0]
    .cfi_rel_offset x19, 0
    .cfi_rel_offset x20, 8
    stp x21, x22, [sp, #16]
    .cfi_rel_offset x21, 16
    .cfi_rel_offset x22, 24
    stp x23, x24, [sp, #32]
    .cfi_rel_offset x23, 32
    .cfi_rel_offset x24, 40
    stp x25, x26, [sp, #48]
    .cfi_rel_offset x25, 48
    .cfi_rel_offset x26, 56
    stp x27, x28, [sp, #64]
    .cfi_rel_offset x27, 64
    .cfi_rel_offset x28, 72
    stp x29, x30, [sp, #80]
    .cfi_rel_offset x29, 80
    .cfi_rel_offset x30, 88
    stp d8, d9, [sp, #96]
    .cfi_rel_offset d8, 96
    .cfi_rel_offset d9, 104
    stp d10, d11, [sp, #112]
    .cfi_rel_offset d10, 112
    .cfi_rel_offset d11, 120
    stp d12, d13, [sp, #128]
    .cfi_rel_offset d12, 128
    .cfi_rel_offset d13, 136
    stp d14, d15, [sp, #144]
    .cfi_rel_offset d14, 144
    .cfi_rel_offset d15, 152
    .endm

    .macro LOAD_ALL
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    .endm

/* void wf_arch_switch(void **save, void *load) */
    .globl wf_arch_switch
    .hidden wf_arch_switch
    .type wf_arch_switch, %function
    .p2align 4
wf_arch_switch:
    .cfi_startproc
    SAVE_ALL
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    LOAD_ALL
    br x30
    .cfi_endproc
    .size wf_arch_switch, . - wf_arch_switch

/* Where a new context begins: x19 holds the entry function, x20 its argument. The return address is undefined and the
 * frame pointer zero, so that every unwinder stops here. Jumped and not called, to keep the return predictor in step. */
    .globl wf_arch_thunk
    .hidden wf_arch_thunk
    .type wf_arch_thunk, %function
    .p2align 4
wf_arch_thunk:
    .cfi_startproc
    .cfi_undefined x30
    .cfi_undefined x29
    hint #36 /* bti j */
    mov x29, #0
    mov x0, x20
    adr x30, .Lreturned
    br x19
    nop
.Lreturned:
    brk #1
    .cfi_endproc
    .size wf_arch_thunk, . - wf_arch_thunk

/* int wf_arch_guarded_call(struct wf_guarded *guarded, void (*fn)(void *), void *arg) */
    .globl wf_arch_guarded_call
    .hidden wf_arch_guarded_call
    .type wf_arch_guarded_call, %function
    .p2align 4
wf_arch_guarded_call:
    .cfi_startproc
    .cfi_personality 0x1b, wf_arch_personality
    SAVE_ALL
    str x0, [sp, #-16]!
    .cfi_adjust_cfa_offset 16
    mov x9, sp
    str x9, [x0]
    mov x0, x2
    blr x1
    mov w0, #0
.Lleave:
    add sp, sp, #16
    LOAD_ALL
    ret

/* The unwinder comes here with the stack pointer of the frame and the exception in x0. */
    .globl wf_arch_guarded_landing
    .hidden wf_arch_guarded_landing
wf_arch_guarded_landing:
    hint #36 /* bti j */
    ldr x9, [sp]
    str x0, [x9, #8]
    mov w0, #2
    b .Lleave

/* void wf_arch_guarded_return(struct wf_guarded *guarded, int value) */
    .globl wf_arch_guarded_return
    .hidden wf_arch_guarded_return
wf_arch_guarded_return:
    ldr x9, [x0]
    mov sp, x9
    mov w0, w1
    b .Lleave
    .cfi_endproc
    .size wf_arch_guarded_call, . - wf_arch_guarded_call

    .section .note.GNU-stack, "", %progbits
