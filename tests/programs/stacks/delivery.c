/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registers as a sample finds them while the kernel delivers a signal: sp already points to
 * the signal frame, but ip is still the interrupted instruction. The kernel is in this state for
 * two instructions only, so this program makes the state itself and waits in a system call.
 *
 * stack: _start system main outer waits
 * stack: _start system main system
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/programs/stacks/stacks.h"

#define ROOM_BYTES (1u << 20)

/* As the kernel puts it on the stack. */
struct signal_frame {
	uint64_t handler_returns_to; /* 0: a walk through the frame ends here */
	ucontext_t interrupted;
};

/* Fills the room with random bytes, while sp points to the signal frame. */
void waits(struct signal_frame *frame, char *room, unsigned long bytes);
__asm__(".text\n"
	".type waits, @function\n"
	"waits:\n"
	".cfi_startproc\n"
	"	movq %rsp, 8 + 160(%rdi)\n"
	"	movq %rbp, 8 + 120(%rdi)\n"
	"	leaq 1f(%rip), %rax\n"
	"	movq %rax, 8 + 168(%rdi)\n"
	"	movq %rsp, %r8\n"
	"	movq %rdi, %rsp\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	xorl %edx, %edx\n"
	"	movl $318, %eax\n" /* getrandom */
	"	syscall\n"
	"1:	movq %r8, %rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size waits, . - waits\n");

FUNCTION int outer(struct signal_frame *frame, char *room)
{
	waits(frame, room, ROOM_BYTES);
	return room[0];
}

int main(void)
{
	struct signal_frame frame = {0};
	char *room =
		mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* The selectors of cs, gs, fs and ss, from the lowest bits on. */
	frame.interrupted.uc_mcontext.gregs[REG_CSGSFS] = 0x002b000000000033;
	for (;;)
		outer(&frame, room);
}
