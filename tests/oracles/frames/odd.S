/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames as assembly describes them: of signals, in other registers, or not at all. */

	.text
	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	main, . - main

	nop
restorer:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f,0x04,0x77,0xa0,0x01,0x06	/* the CFA is what stands at rsp + 160 */
	.cfi_escape 0x10,0x06,0x03,0x77,0xf8,0x00	/* rbp is at rsp + 120 */
	.cfi_escape 0x10,0x10,0x03,0x77,0xa8,0x01	/* rip is at rsp + 168 */
	mov	$15, %rax
	syscall
	.cfi_endproc

/* As in musl, without a word. */
	.skip	64, 0x90
	mov	$15, %eax
	syscall
	.skip	64, 0x90

/* The stack pointer is kept in rax, then in memory. */
saved:
	.cfi_startproc
	mov	%rsp, %rax
	.cfi_def_cfa_register %rax
	push	%rbp
	.cfi_offset %rbp, -16
	sub	$64, %rsp
	and	$-64, %rsp
	mov	%rax, 40(%rsp)
	.cfi_escape 0x0f,0x06,0x77,0x28,0x06,0x23,0x08	/* the CFA is 8 + what stands at rsp + 40 */
	mov	40(%rsp), %rax
	.cfi_def_cfa %rax, 8
	mov	-8(%rax), %rbp
	.cfi_restore %rbp
	mov	%rax, %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc

states:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_remember_state
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
	.skip	70000, 0x90	/* advances of four bytes, and more than a page */
	mov	%rbp, %r9
	.cfi_register %rbp, %r9
	mov	%r9, %rbp
	.cfi_same_value %rbp
	nop
	.cfi_undefined %rip
	hlt
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
