/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * False stack pointers and frame pointers: nothing behind them is a caller, except for a frame
 * that names itself as its own caller. Code without unwind rules uses rbp for a pointer to data
 * that looks like a frame, but for the code at its return address: no call is before that.
 *
 * stack: ? lies_null
 * stack: ? lies_unreadable
 * stack: ? lies_truncated
 * stack: ? lies_non_canonical
 * stack: ? lies_kernel
 * stack: ? lies_odd
 * stack: ? lies_itself lies_itself
 * stack: ? lies_untold
 * stack: ? /^\[unknown\]$/
 * stack: _start system main lie system
 * stack: _start system main system
 * end: cut
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/stacks/stacks.h"

#define PAGE 4096

/* Set all registers that a rule can start from, then loop. */
#define LIE(name, rules)                                                                           \
	void name(uint64_t sp, uint64_t bp);                                                       \
	__asm__(".text\n"                                                                          \
		".type " #name ", @function\n" #name ":\n" rules "	mov %rdi, %rsp\n"               \
		"	mov %rsi, %rbp\n"                                                                \
		"1:	pause\n"                                                                       \
		"	jmp 1b\n"                                                                        \
		".cfi_endproc\n"                                                                   \
		".size " #name ", . - " #name "\n")

#define BY_RSP ".cfi_startproc\n"
#define BY_RBP ".cfi_startproc\n.cfi_def_cfa 6, 16\n.cfi_offset 6, -16\n"

LIE(lies_null, BY_RSP);
LIE(lies_unreadable, BY_RSP);
LIE(lies_truncated, BY_RSP);
LIE(lies_non_canonical, BY_RSP);
LIE(lies_kernel, BY_RBP);
LIE(lies_odd, BY_RBP);
LIE(lies_itself, BY_RBP);

/*
 * Functions with frame pointers and without call frame information. Among them is one that uses rbp
 * for its argument, which an analysis does not show, since it goes on at another argument; and code
 * that nobody returns to.
 */
void lies_untold(uint64_t bp, uintptr_t inside);
extern char no_caller[];
__asm__(".text\n"
	".rept 200\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov %rdi, -8(%rbp)\n"
	"	mov -8(%rbp), %rax\n"
	"	add $1, %rax\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.p2align 4\n"
	".endr\n"
	".type lies_untold, @function\n"
	"lies_untold:\n"
	"	jmp *%rsi\n"
	"	.p2align 4\n"
	"	mov %rdi, %rbp\n"
	"1:	pause\n"
	"	jmp 1b\n"
	".size lies_untold, . - lies_untold\n"
	".type behind_no_call, @function\n"
	"behind_no_call:\n"
	"	mov $0x12345678, %eax\n"
	"	add %rax, %rbx\n"
	"no_caller:\n"
	"	jmp behind_no_call\n"
	".size behind_no_call, . - behind_no_call\n");

/* lies_untold() in memory of no file. */
static void (*copied_code(void))(uint64_t bp)
{
	static const uint8_t code[] = {0x48, 0x89, 0xfd, 0xf3, 0x90, 0xeb, 0xfc};
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, sizeof(code));
	return (void (*)(uint64_t))(uintptr_t)page;
}

/* A mapped page beyond the end of its file. */
static char *truncated_page(void)
{
	int fd = memfd_create("truncated", 0);
	char *page = ftruncate(fd, 2 * PAGE)
			     ? NULL
			     : mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return ftruncate(fd, PAGE) ? NULL : page + PAGE;
}

FUNCTION void lie(int number)
{
	char *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *self = aligned_alloc(16, PAGE);
	uint64_t list[] = {0, (uintptr_t)no_caller};

	/* A frame whose saved frame pointer points to itself, above the stack pointer. */
	self[2] = (uintptr_t)&self[2];
	self[3] = (uintptr_t)lies_itself + 1;
	switch (number) {
	case 0:
		lies_null(0, 0);
		break;
	case 1:
		lies_unreadable((uintptr_t)page, (uintptr_t)page);
		break;
	case 2:
		lies_truncated((uintptr_t)truncated_page(), 0);
		break;
	case 3:
		lies_non_canonical(0x8000000000000000, 0x8000000000000000);
		break;
	case 4:
		lies_kernel(0xffff888000000000, 0xffffffff81000000);
		break;
	case 5:
		lies_odd((uintptr_t)self + 1, (uintptr_t)self + 3);
		break;
	case 6:
		lies_untold((uintptr_t)list, (uintptr_t)lies_untold + 16);
		break;
	case 7:
		copied_code()((uintptr_t)list);
		break;
	default:
		lies_itself((uintptr_t)self, (uintptr_t)&self[2]);
	}
}

int main(void)
{
	int number = 0;

	/* One process per function, all at once. */
	while (number < 8 && fork())
		number++;
	lie(number);
}
