/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 32-bit code in memory of no file, which uses ebp for a pointer to data that looks like a frame;
 * but functions do not return to the code at its return address.
 *
 * stack: ? /^\[unknown\]$/
 * stack: _start begin map
 * end: cut
 */
#include "tests/programs/stacks/stacks.h"

#define SYS_MMAP2	192
#define PROT_ALL	7
#define PRIVATE_NO_FILE 0x22

__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %esp\n"
	"	call begin\n"
	"	hlt\n"
	".size _start, . - _start\n");

/* Code that nobody returns to: its start is not behind a call. */
FUNCTION int never_called(int x)
{
	return opaque(x) + 1;
}

FUNCTION unsigned char *map(void)
{
	register int no_file __asm__("edi") = -1;
	int result = SYS_MMAP2;

	/* ebp has the offset, 0. */
	__asm__ volatile("push %%ebp\n\txor %%ebp, %%ebp\n\tint $0x80\n\tpop %%ebp"
			 : "+a"(result)
			 : "b"(0), "c"(4096), "d"(PROT_ALL), "S"(PRIVATE_NO_FILE), "r"(no_file)
			 : "memory");
	return (unsigned char *)result;
}

void begin(void)
{
	/* mov 4(%esp),%ebp; pause; jmp to the latter */
	static const unsigned char code[] = {0x8b, 0x6c, 0x24, 0x04, 0xf3, 0x90, 0xeb, 0xfc};
	unsigned int list[2] = {0, (unsigned int)never_called + 1};
	unsigned char *page = map();

	for (unsigned int i = 0; i < sizeof(code); i++)
		page[i] = code[i];
	((void (*)(unsigned int *))page)(list);
}
