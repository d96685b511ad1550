/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/x86/assembled.h"

CODE(frame_pointer, "push %rbp\n mov %rsp,%rbp\n push %rbx\n sub $24,%rsp\n call 1f+4096\n"
		    "1: mov -8(%rbp),%rbx\n leave\n ret");

CASE(test_frame_pointer)
{
	CHECK(frame_pointer, "0: rsp+8\n1: rsp+16 rbp-16\n4: rbp+16 rbp-16\n19: rsp+8\n");
}

CODE(no_frame_pointer, "push %r12\n push %rbp\n push %rbx\n sub $0x90,%rsp\n xor %ebp,%ebp\n"
		       "add $0x90,%rsp\n pop %rbx\n pop %rbp\n pop %r12\n ret");

CASE(test_no_frame_pointer)
{
	CHECK(no_frame_pointer, "0: rsp+8\n2: rsp+16\n3: rsp+24 rbp-24\n4: rsp+32 rbp-24\n"
				"11: rsp+176 rbp-24\n20: rsp+32 rbp-24\n21: rsp+24 rbp-24\n"
				"22: rsp+16\n24: rsp+8\n");
}

/* HotSpot's C2: no push, and rbp is an ordinary register. */
CODE(stored, "sub $24,%rsp\n mov %rbp,16(%rsp)\n mov %rdi,%rbp\n mov 16(%rsp),%rbp\n"
	     "add $24,%rsp\n ret");

CASE(test_stored_rbp)
{
	CHECK(stored, "0: rsp+8\n4: rsp+32\n9: rsp+32 rbp-16\n17: rsp+32\n21: rsp+8\n");
}

/* gcc: a frame with an alignment above 16 bytes, in a function that needs its arguments. */
CODE(realigned, "lea 8(%rsp),%r10\n and $-32,%rsp\n push -8(%r10)\n push %rbp\n mov %rsp,%rbp\n"
		"push %r10\n sub $40,%rsp\n mov %rdi,%rax\n mov -8(%rbp),%r10\n leave\n"
		"lea -8(%r10),%rsp\n ret");

CASE(test_realigned)
{
	CHECK(realigned, "0: rsp+8\n9: unknown\n19: [rbp-8] rbp+0\n31: unknown\n35: rsp+8\n");
}

/* A local array of variable size, with alignment. */
CODE(variable, "push %rbp\n mov %rsp,%rbp\n push %rbx\n sub %rdi,%rsp\n and $-64,%rsp\n"
	       "mov %rsp,%rbx\n push %rax\n lea -8(%rbp),%rsp\n pop %rbx\n pop %rbp\n ret");

CASE(test_variable)
{
	CHECK(variable, "0: rsp+8\n1: rsp+16 rbp-16\n4: rbp+16 rbp-16\n22: rsp+8\n");
}

CODE(copied, "push %rbx\n mov %rsp,%rbx\n sub %rdi,%rsp\n call 1f+4096\n 1: mov %rbx,%rsp\n"
	     "pop %rbx\n ret");

CASE(test_copy_of_rsp)
{
	CHECK(copied, "0: rsp+8\n1: rsp+16\n7: unknown\n15: rsp+16\n16: rsp+8\n");
}

/*
 * Overwrites of the register with the copy of rsp: by VEX's third operand, a
 * loop, a partial write.
 */
CODE(lost_vex, "push %r12\n mov %rsp,%r12\n sub %rdi,%rsp\n blsr %rax,%r12\n mov %r12,%rsp\n nop");
CODE(lost_count, "mov %rsp,%rcx\n sub %rdi,%rsp\n 1: loop 1b\n mov %rcx,%rsp\n nop");
CODE(lost_part, "mov %rsp,%rbx\n sub %rdi,%rsp\n mov $1,%bh\n mov %rbx,%rsp\n nop");
CODE(lost_call, "mov %rsp,%r11\n sub %rdi,%rsp\n call 1f+4096\n 1: mov %r11,%rsp\n nop");
CODE(lost_implied, "mov %rsp,%rbx\n sub %rdi,%rsp\n cpuid\n mov %rbx,%rsp\n nop");
CODE(not_lost, "mov %rsp,%rbx\n sub %rdi,%rsp\n vaddps %ymm3,%ymm3,%ymm3\n mov %rbx,%rsp\n nop");

CASE(test_copy_lost)
{
	CHECK(lost_vex, "0: rsp+8\n2: rsp+16\n8: unknown\n");
	CHECK(lost_count, "0: rsp+8\n6: unknown\n");
	CHECK(lost_part, "0: rsp+8\n6: unknown\n");
	CHECK(lost_call, "0: rsp+8\n6: unknown\n");
	CHECK(lost_implied, "0: rsp+8\n6: unknown\n");
	CHECK(not_lost, "0: rsp+8\n6: unknown\n13: rsp+8\n");
}

/* A large frame with a stack probe loop. */
CODE(touched, "push %rbx\n lea -0x9000(%rsp),%r11\n 1: sub $0x1000,%rsp\n orq $0,(%rsp)\n"
	      "cmp %r11,%rsp\n jne 1b\n sub $0x10,%rsp\n add $0x9010,%rsp\n pop %rbx\n ret");

CASE(test_touched)
{
	CHECK(touched, "0: rsp+8\n1: rsp+16\n9: unknown\n26: rsp+36880\n30: rsp+36896\n"
		       "37: rsp+16\n38: rsp+8\n");
}

CODE(odd, "push %rdx\n pushw %ax\n popw %ax\n pushfq\n popfq\n call 1f\n 1: pop %rax\n"
	  "xchg %rax,%rbp\n xchg %rbp,%rax\n enter $32,$0\n leave\n pop %rdx\n ret");

CASE(test_odd)
{
	CHECK(odd, "0: rsp+8\n1: rsp+16\n3: unknown\n5: rsp+16\n6: rsp+24\n7: rsp+16\n"
		   "12: rsp+24\n13: rsp+16\n21: rbp+24 rbp-24\n22: rsp+16\n23: rsp+8\n");
}

/* Code after the first return is reached only by the jump. */
CODE(two_ends, "test %edi,%edi\n je 1f\n push %rbx\n pop %rbx\n ret\n 1: sub $24,%rsp\n"
	       "add $24,%rsp\n jmp 1b+4096");

CASE(test_two_ends)
{
	CHECK(two_ends, "0: rsp+8\n5: rsp+16\n6: rsp+8\n11: rsp+32\n15: rsp+8\n");
}

/* A switch: its cases are found because their ends fit. */
CODE(cases, "push %rbp\n push %rbx\n sub $8,%rsp\n jmp *(%rdi,%rsi,8)\n"
	    "mov $1,%eax\n jmp 1f\n mov $2,%eax\n 1: add $8,%rsp\n pop %rbx\n pop %rbp\n ret\n"
	    "mov $3,%eax\n jmp 1b");

CASE(test_cases)
{
	CHECK(cases, "0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n6: rsp+32 rbp-16\n"
		     "25: rsp+24 rbp-16\n26: rsp+16 rbp-16\n27: rsp+8\n28: rsp+32 rbp-16\n");
}

/* A jump was patched over "mov %eax,-0x14000(%rsp)", of which two bytes are left. */
CODE(patched, "cmp %rax,%r10\n jne 1f+4096\n 1: jmp 1b+8192\n .byte 0xfe, 0xff\n push %rbp\n"
	      "sub $0x100,%rsp\n call 1b+4096\n add $0x100,%rsp\n pop %rbp\n ret");

CASE(test_patched)
{
	CHECK(patched, "0: rsp+8\n14: unknown\n16: rsp+8\n17: rsp+16 rbp-16\n24: rsp+272 rbp-16\n"
		       "36: rsp+16 rbp-16\n37: rsp+8\n");
}

/* abort() does not return; the code after the call has another frame. */
CODE(no_return, "test %edi,%edi\n jne 1f\n sub $8,%rsp\n call 1f+4096\n 1: push %rbx\n pop %rbx\n"
		"ret");

CASE(test_no_return)
{
	CHECK(no_return, "0: rsp+8\n8: rsp+16\n13: rsp+8\n14: rsp+16\n15: rsp+8\n");
}

/* Two paths join with different rsp. */
CODE(disagree, "test %edi,%edi\n je 1f\n push %rbx\n 1: nop\n nop\n ret");

CASE(test_disagreement)
{
	CHECK(disagree, "0: rsp+8\n5: unknown\n");
}

/* The paths differ only in rbp, or only in rsp while rbp is a frame pointer. */
CODE(partly, "push %rbp\n mov %rsp,%rbp\n test %edi,%edi\n je 1f\n push %rbx\n 1: nop\n leave\n"
	     "ret");

CASE(test_partial_agreement)
{
	CHECK(partly, "0: rsp+8\n1: rsp+16 rbp-16\n4: rbp+16 rbp-16\n11: rsp+8\n");
}

CODE(switched, "push %rbx\n mov %rdi,%rsp\n nop\n mov (%rdi),%rsp\n ret");

CASE(test_another_stack)
{
	CHECK(switched, "0: rsp+8\n1: rsp+16\n4: unknown\n");
}

/* Code that is jumped to inside an existing frame. */
CODE(inside, "push %rax\n pop %rax\n jmp *%rcx");
CODE(inside_loop, "dec %eax\n jne inside_loop_begin\n jmp inside_loop_begin+4096");
CODE(inside_more, "sub $0x18,%rsp\n call inside_more_begin+4096\n add $0x20,%rsp\n jmp *(%r15)");
CODE(inside_helper, "sub $8,%rsp\n call inside_helper_begin+4096\n add $8,%rsp\n ret");

CASE(test_inside_a_frame)
{
	struct code_entry entry = {UNWIND_CFA(UNWIND_CFA_RSP, 112), -6, true};

	check_entry(inside_begin, inside_end, &entry,
		    "0: rsp+112 rbp-48\n1: rsp+120 rbp-48\n2: rsp+112 rbp-48\n");
	check_entry(inside_loop_begin, inside_loop_end, &entry, "0: rsp+112 rbp-48\n");
	/* At the end rsp is 8 bytes higher, so there are 8 more bytes on the stack at the entry. */
	check_entry(inside_more_begin, inside_more_end, &entry,
		    "0: rsp+120 rbp-48\n4: rsp+144 rbp-48\n13: rsp+112 rbp-48\n");
	/* It returns, so it is called. */
	check_entry(inside_helper_begin, inside_helper_end, &entry,
		    "0: rsp+8\n4: rsp+16\n13: rsp+8\n");
	entry = (struct code_entry){UNWIND_CFA(UNWIND_CFA_RBP, 16), -2, true};
	check_entry(inside_begin, inside_end, &entry, "0: rbp+16 rbp-16\n");
}

static const struct code_entry one_frame_entry = {
	.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 8),
	.rbp = UNWIND_RBP_KEPT,
	.one_frame = true,
};

/*
 * HotSpot's C2: an exception handler, a call that a signal leads to, a stub behind the frame's end;
 * then jumps of the runtime, one for exceptions, and one for frames that are deoptimized.
 */
CODE(one_frame, "push %rbp\n sub $0x10,%rsp\n call 1f+4096\n 1: add $0x10,%rsp\n pop %rbp\n"
		"cmp 0x340(%r15),%rsp\n ja 2f\n ret\n"
		"mov %rax,%rsi\n add $0x10,%rsp\n pop %rbp\n jmp 1b+4096\n"
		"mov $-10,%esi\n call 1b+4096\n"
		"2: mov %r10,0x358(%r15)\n jmp 1b+4096\n hlt\n"
		"jmp 1b+4096\n"
		"call 3f\n 3: subq $5,(%rsp)\n jmp 1b+4096");

/* The same, with the jump at its start that keeps it from being entered. */
CODE(one_frame_patched, "jmp 1f+4096\n .byte 0xfe, 0xff\n push %rbp\n sub $0x10,%rsp\n"
			"call 1f+4096\n 1: add $0x10,%rsp\n pop %rbp\n ret\n jmp 1b+4096");

CASE(test_one_frame)
{
	check_entry(one_frame_begin, one_frame_end, &one_frame_entry,
		    "0: rsp+8\n1: rsp+16 rbp-16\n5: rsp+32 rbp-16\n14: rsp+16 rbp-16\n"
		    "15: rsp+8\n25: rsp+32 rbp-16\n"
		    "32: rsp+16 rbp-16\n33: rsp+8\n38: rsp+32 rbp-16\n48: rsp+8\n"
		    "60: rsp+32 rbp-16\n71: rsp+40 rbp-16\n");
	check_entry(one_frame_patched_begin, one_frame_patched_end, &one_frame_entry,
		    "0: rsp+8\n5: unknown\n7: rsp+8\n8: rsp+16 rbp-16\n12: rsp+32 rbp-16\n"
		    "21: rsp+16 rbp-16\n22: rsp+8\n23: rsp+32 rbp-16\n");
}

/* HotSpot's handler of exceptions: it pushes the address of the exception, and saves rbp. */
CODE(pushed, "push %rdx\n sub $8,%rsp\n mov %rbp,(%rsp)\n and $-16,%rsp\n call 1f+4096\n"
	     "1: mov (%rsp),%rbp\n add $8,%rsp\n pop %rdx\n jmp *%rax");

CASE(test_pushed)
{
	check_entry(pushed_begin, pushed_end, &code_entry_pushed,
		    "0: unknown\n1: rsp+8\n5: rsp+16\n9: rsp+16 rbp-16\n22: rsp+16\n"
		    "26: rsp+8\n27: unknown\n");
}

/* A jump into the middle of an instruction. */
CODE(overlapping, "push %rbx\n jmp 1f+1\n 1: .byte 0x3d, 0x5b, 0xc3, 0x90, 0x90\n ret");

CASE(test_overlapping)
{
	CHECK(overlapping, "0: rsp+8\n1: rsp+16\n3: rsp+8\n4: rsp+16\n5: rsp+8\n"
			   "6: unknown\n8: rsp+8\n");
}

/* V8: a callee that removes as many arguments as a register says. */
CODE(moved_return, "push %rbp\n mov %rsp,%rbp\n mov %rbp,%rsp\n pop %rbp\n pop %rcx\n"
		   "lea (%rsp,%rbx,8),%rsp\n push %rcx\n ret");
/* An argument is inserted. */
CODE(inserted, "pop %rcx\n push %rdx\n push %rcx\n jmp *%rax");
/* A tail call with an argument more: the return address is copied, then overwritten. */
CODE(more, "push %rbp\n mov %rsp,%rbp\n pop %rbp\n push (%rsp)\n mov %rdx,8(%rsp)\n jmp *%rax");
CODE(overwritten, "pop %rcx\n push %rdx\n ret");
CODE(dropped, "add $8,%rsp\n push %rdx\n ret");
/* Also what is stored into the place of the return address takes it away. */
CODE(stored_over, "push %rbp\n mov %rsp,%rbp\n mov %rsp,%rax\n push %rax\n mov %rdx,8(%rbp)\n ret");

CASE(test_moved_return_address)
{
	CHECK(moved_return, "0: rsp+8\n1: rsp+16 rbp-16\n4: rbp+16 rbp-16\n8: rsp+8\n"
			    "9: unknown\n14: rsp+8\n");
	CHECK(inserted, "0: rsp+8\n1: unknown\n3: rsp+8\n");
	CHECK(more, "0: rsp+8\n1: rsp+16 rbp-16\n4: rbp+16 rbp-16\n5: rsp+8\n8: rsp+16\n"
		    "13: rsp+8\n");
	CHECK(overwritten, "0: rsp+8\n1: unknown\n");
	CHECK(dropped, "0: rsp+8\n4: unknown\n");
	CHECK(stored_over, "0: rsp+8\n1: rsp+16 rbp-16\n4: rbp+16 rbp-16\n12: unknown\n");
}

/* V8's baseline code calls this to make its frame. */
CODE(prologue, "pop %r15\n push %rbp\n mov %rsp,%rbp\n push %rsi\n push %rdi\n push %r15\n ret");

CASE(test_frame_of_the_caller)
{
	CHECK(prologue, "0: rsp+8\n2: unknown\n10: rsp+8\n");
}

/* A doubted entry holds if a path leaves as it says. */
CODE(leaves, "test $1,%al\n jne 1f\n ret\n 1: push %rbp\n mov %rsp,%rbp\n ud2");
CODE(stays, "mov %rbp,%rsp\n pop %rbp\n pop %r8\n lea (%rsp,%rbx,8),%rsp\n push %r8\n ret");

CASE(test_doubted_entry)
{
	struct code_entry entry = code_entry_called;
	struct unwind_rows rows = {0};

	entry.doubted = true;
	check_entry(leaves_begin, leaves_end, &entry,
		    "0: rsp+8\n6: rsp+16 rbp-16\n9: rbp+16 rbp-16\n");
	assert_int_equal(code_unwind(stays_begin, stays_end - stays_begin, 0, &entry, &rows),
			 -ENOENT);
	assert_int_equal(rows.rows.size, 0);
}

CASE(test_bounds)
{
	static const uint8_t cut[] = {0x53, 0x48, 0x8b};
	struct unwind_rows rows = {0};

	assert_int_equal(code_unwind(cut, 0, 0, &code_entry_called, &rows), -EINVAL);
	assert_int_equal(code_unwind(cut, CODE_UNWIND_BYTES_MAX + 1, 0, &code_entry_called, &rows),
			 -EINVAL);
	assert_int_equal(rows.rows.size, 0);
	check_entry(cut, cut + sizeof(cut), &code_entry_called,
		    "0: rsp+8\n1: rsp+16\n2: unknown\n");
}

/* A distinct frame per byte of a large region: beyond the limit rows are unknown. */
CASE(test_many_frames)
{
	size_t size_bytes = 1 << 20;
	AUTO_FREE uint8_t *code = malloc(size_bytes);
	struct unwind_rows rows = {0};

	assert_non_null(code);
	memset(code, 0x50, size_bytes);
	assert_int_equal(code_unwind(code, size_bytes, 0, &code_entry_called, &rows), 0);
	assert_in_range(rows.rows.size, 1000, 20000);
	assert_int_equal(unwind_rows_at(&rows, 1000).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 8008));
	assert_int_equal(unwind_rows_at(&rows, size_bytes - 1).cfa,
			 UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
	unwind_rows_deinit(&rows);
}
