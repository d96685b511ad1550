/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The smallest program that has all that is read of an ELF file: the seeds exe,
 * so and so-stripped of fuzz_elf, as assembler and linker make them.
 *   gcc -c tests/fuzz/seed/elf.S -o build/seed.o
 *   ld -n -z noseparate-code --build-id=sha1 build/seed.o -o exe
 *   ld -shared -z noseparate-code -z max-page-size=16 --build-id=sha1 \
 *       --hash-style=gnu build/seed.o -o so;  strip -o so-stripped so
 */
	.text
	.globl site, _start
	.type site,@function
site:	nop
	ret
	.size site,.-site
	.type _start,@function
_start:	ret
	.size _start,.-_start
	.globl handmade
handmade: nop
	nop
	.type hidden,@function
hidden:	ret
	.size hidden,.-hidden
	.globl _Z3fooi
	.type _Z3fooi,@function
_Z3fooi: ret
	.size _Z3fooi,.-_Z3fooi
	.section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
	.weak _.stapsdt.base
	.hidden _.stapsdt.base
_.stapsdt.base: .space 1
	.section .probes,"aw","progbits"
sema:	.short 0
	.section .note.stapsdt,"?","note"
	.balign 4
	.4byte 992f-991f, 994f-993f, 3
991:	.asciz "stapsdt"
992:	.balign 4
993:	.8byte site
	.8byte _.stapsdt.base
	.8byte sema
	.asciz "jitbpf"
	.asciz "event"
	.asciz "8@%rdi"
994:	.balign 4
