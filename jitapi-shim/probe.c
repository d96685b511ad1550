/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/probe.h"

/*
 * Three nops; the profiler attaches to the one that is fastest on its kernel: at +0 one
 * byte (any kernel), at +1 five bytes, at +6 ten bytes. They are given as bytes, since an
 * assembler may choose other encodings. The alignment keeps each of them in one cache
 * line and page.
 *
 * On some kernels a probe at +1 writes below the stack pointer. The shim keeps nothing
 * there: this function has no frame, and its callers are built without a red zone.
 */
__asm__(".pushsection .text\n"
	"	.balign 64, 0xcc\n"
	"	.globl jitbpf_probe\n"
	"	.hidden jitbpf_probe\n"
	"	.type jitbpf_probe, @function\n"
	"jitbpf_probe:\n"
	"	.cfi_startproc\n"
	"	.byte 0x90\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size jitbpf_probe, . - jitbpf_probe\n"
	"	.popsection\n");

/*
 * SystemTap's note, version 3: the addresses of the site, of .stapsdt.base (a reference
 * to correct the others after prelink) and of the semaphore; then the provider, the name
 * and the locations of the arguments.
 */
__asm__(".pushsection .note.stapsdt, \"\", @note\n"
	"	.balign 4\n"
	"	.4byte 2f - 1f, 4f - 3f, 3\n"
	"1:	.asciz \"stapsdt\"\n"
	"2:	.balign 4\n"
	"3:	.8byte jitbpf_probe\n"
	"	.8byte _.stapsdt.base\n"
	"	.8byte jitbpf_event_semaphore\n"
	"	.asciz \"jitbpf\"\n"
	"	.asciz \"event\"\n"
	"	.asciz \"8@%rdi 8@%rsi 8@%rdx 4@%ecx\"\n"
	"4:	.balign 4\n"
	"	.popsection\n"
	"	.pushsection .stapsdt.base, \"aG\", @progbits, .stapsdt.base, comdat\n"
	"	.weak _.stapsdt.base\n"
	"	.hidden _.stapsdt.base\n"
	"_.stapsdt.base:\n"
	"	.space 1\n"
	"	.size _.stapsdt.base, 1\n"
	"	.popsection\n");

/* Not in .bss, since the kernel finds the semaphore by its file offset. */
__asm__(".pushsection .probes, \"aw\", @progbits\n"
	"	.balign 2\n"
	"	.globl jitbpf_event_semaphore\n"
	"	.hidden jitbpf_event_semaphore\n"
	"	.type jitbpf_event_semaphore, @object\n"
	"	.size jitbpf_event_semaphore, 2\n"
	"jitbpf_event_semaphore:\n"
	"	.2byte 0\n"
	"	.popsection\n");
