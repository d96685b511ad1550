/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that moves rsp by an unknown distance, as the kernels of oneDNN and OpenVINO do. */
#include <stdint.h>

#include <stdlib.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/x86/assembled.h"

#define PUSHES "push %rbp\n push %rbx\n push %r15\n"
#define POPS   "pop %r15\n pop %rbx\n pop %rbp\n ret\n"

/* oneDNN's eltwise injector: rsp after the pushes is kept in the aligned frame. */
#define INJECTOR                                                                                   \
	"push %rax\n push %r15\n mov %rsp,%r15\n sub $8,%rsp\n and $-64,%rsp\n mov %r15,(%rsp)\n"  \
	"sub $0x40,%rsp\n mov %rsp,%r15\n vmovups %zmm1,(%r15)\n vmovups (%r15),%zmm1\n"           \
	"add $0x40,%r15\n mov (%r15),%rsp\n pop %r15\n pop %rax\n"

CODE(injector, PUSHES "mov $1,%ebp\n" INJECTOR POPS);

CASE(test_injector)
{
	CHECK(injector,
	      "0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n4: rsp+32 rbp-16\n"
	      "10: rsp+40 rbp-16\n12: rsp+48 rbp-16\n19: rsp+56 rbp-16\n23: unknown\n"
	      "27: [rsp+0]+48 rbp-16\n31: [rsp+64]+48 rbp-16\n53: rsp+48 rbp-16\n"
	      "55: rsp+40 rbp-16\n56: rsp+32 rbp-16\n58: rsp+24 rbp-16\n59: rsp+16 rbp-16\n"
	      "60: rsp+8\n");
}

/* In a loop, the second round finds the frame of the first one again. */
CODE(in_a_loop, PUSHES "xor %ebp,%ebp\n 1: " INJECTOR INJECTOR "dec %ecx\n jne 1b\n" POPS);

CASE(test_injectors_in_a_loop)
{
	CHECK(in_a_loop,
	      "0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n4: rsp+32 rbp-16\n7: rsp+40 rbp-16\n"
	      "9: rsp+48 rbp-16\n16: rsp+56 rbp-16\n20: unknown\n24: [rsp+0]+48 rbp-16\n"
	      "28: [rsp+64]+48 rbp-16\n50: rsp+48 rbp-16\n52: rsp+40 rbp-16\n53: rsp+32 rbp-16\n"
	      "54: rsp+40 rbp-16\n56: rsp+48 rbp-16\n63: rsp+56 rbp-16\n67: unknown\n"
	      "71: [rsp+0]+48 rbp-16\n75: [rsp+64]+48 rbp-16\n97: rsp+48 rbp-16\n"
	      "99: rsp+40 rbp-16\n100: rsp+32 rbp-16\n106: rsp+24 rbp-16\n107: rsp+16 rbp-16\n"
	      "108: rsp+8\n");
}

/* OpenVINO's calls: the ABI's alignment makes rsp modulo 16 a constant. */
CODE(call, PUSHES "mov %rdi,%rbp\n mov %rsp,%rbx\n and $15,%rbx\n sub %rbx,%rsp\n call *%rbp\n"
		  "vmovss %xmm0,(%rsp,%rbx)\n add %rbx,%rsp\n" POPS);
CODE(call_32, "push %rbx\n mov %rsp,%rbx\n and $15,%ebx\n sub %rbx,%rsp\n call *%rax\n"
	      "lea (%rsp,%rbx),%rsp\n pop %rbx\n ret");
CODE(call_shifted,
     "push %rbx\n push %r12\n sub $8,%rsp\n mov %rsp,%rbx\n and $15,%rbx\n"
     "sub %rbx,%rsp\n call *%rax\n add %rbx,%rsp\n add $8,%rsp\n pop %r12\n pop %rbx\n ret");
CODE(call_exact, "push %rbx\n mov %rsp,%rbx\n and $-16,%rsp\n sub $32,%rsp\n call *%rax\n"
		 "mov %rbx,%rsp\n pop %rbx\n ret");

CASE(test_alignment_of_calls)
{
	CHECK(call, "0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n4: rsp+32 rbp-16\n"
		    "29: rsp+24 rbp-16\n30: rsp+16 rbp-16\n31: rsp+8\n");
	CHECK(call_32, "0: rsp+8\n1: rsp+16\n17: rsp+8\n");
	CHECK(call_shifted, "0: rsp+8\n1: rsp+16\n3: rsp+24\n7: rsp+32\n26: rsp+24\n28: rsp+16\n"
			    "29: rsp+8\n");
	CHECK(call_exact, "0: rsp+8\n1: rsp+16\n12: rsp+48\n17: rsp+16\n18: rsp+8\n");
}

/* More bits than the ABI's alignment, an unknown rsp, a clobbered register: not a constant. */
CODE(not_16, "push %rbx\n mov %rsp,%rbx\n and $31,%rbx\n sub %rbx,%rsp\n nop");
CODE(not_constant,
     "push %rbx\n sub %rdi,%rsp\n mov %rsp,%rbx\n and $15,%rbx\n sub %rbx,%rsp\n nop");
CODE(not_kept, "push %r12\n push %r12\n mov %rsp,%rcx\n and $15,%rcx\n sub %rcx,%rsp\n call *%rax\n"
	       "add %rcx,%rsp\n nop");

CASE(test_not_constant)
{
	CHECK(not_16, "0: rsp+8\n1: rsp+16\n11: unknown\n");
	CHECK(not_constant, "0: rsp+8\n1: rsp+16\n4: unknown\n");
	CHECK(not_kept, "0: rsp+8\n2: rsp+16\n4: rsp+24\n14: rsp+32\n19: unknown\n");
}

/* An aligned rsp is aligned enough for a call. */
CODE(call_aligned, "push %rbx\n mov %rsp,%rax\n and $-64,%rsp\n push %rax\n sub $16,%rsp\n"
		   "mov %rsp,%rbx\n and $15,%rbx\n sub %rbx,%rsp\n call *%rdx\n add %rbx,%rsp\n"
		   "mov 16(%rsp),%rsp\n pop %rbx\n ret");

CASE(test_call_in_aligned_frame)
{
	CHECK(call_aligned, "0: rsp+8\n1: rsp+16\n8: unknown\n9: [rsp+0]+16\n13: [rsp+16]+16\n"
			    "23: [rsp+24]+16\n28: [rsp+16]+16\n33: rsp+16\n34: rsp+8\n");
}

/* oneDNN's gemm: on one path rsp moves into a workspace; both keep the old value in one slot. */
#define WORKSPACE_BEGIN                                                                            \
	PUSHES "mov %rsp,%rbp\n cmp $84,%rdx\n jg 1f\n lea (,%rdx,4),%rax\n sub %rax,%rsp\n"       \
	       "and $-4096,%rsp\n lea 128(%rsp),%rax\n jmp 2f\n 1: mov 0x48(%rsp),%rax\n"          \
	       "sub $0x100,%rsp\n 2: mov %rax,0x60(%rsp)\n mov %rbp,0x78(%rsp)\n"
#define WORKSPACE_ROWS                                                                             \
	"0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n4: rsp+32 rbp-16\n24: rbp+32 rbp-16\n"      \
	"41: rsp+32 rbp-16\n53: rbp+32 rbp-16\n"

CODE(workspace,
     WORKSPACE_BEGIN "mov %rdi,(%rsp)\n lea (%rcx,%r9,8),%rbp\n 3: addq $8,0x18(%rsp)\n"
		     "vmovups %zmm0,0x80(%rsp)\n dec %rbp\n jne 3b\n mov 0x78(%rsp),%rsp\n" POPS);

CASE(test_workspace)
{
	CHECK(workspace, WORKSPACE_ROWS "71: [rsp+120]+32 rbp-16\n95: rsp+32 rbp-16\n"
					"97: rsp+24 rbp-16\n98: rsp+16 rbp-16\n99: rsp+8\n");
}

/* Stores that reach the slot, and one that ends before it. */
CODE(overwritten, WORKSPACE_BEGIN "xor %ebp,%ebp\n movl $0,0x7c(%rsp)\n nop");
CODE(overwritten_by_vector, WORKSPACE_BEGIN "xor %ebp,%ebp\n vmovups %zmm0,0x40(%rsp)\n nop");
CODE(not_overwritten, WORKSPACE_BEGIN "xor %ebp,%ebp\n vmovups %ymm0,0x58(%rsp)\n nop");

CASE(test_overwritten_slot)
{
	CHECK(overwritten, WORKSPACE_ROWS "65: [rsp+120]+32 rbp-16\n73: unknown\n");
	CHECK(overwritten_by_vector, WORKSPACE_ROWS "65: [rsp+120]+32 rbp-16\n73: unknown\n");
	CHECK(not_overwritten, WORKSPACE_ROWS "65: [rsp+120]+32 rbp-16\n");
}

/* The same in 300 kB of code, with many joins. */
CASE(test_large_region)
{
	static const uint8_t block[] = {
		0x62, 0xf2, 0x4d, 0x48, 0xb8, 0xc8, /* vfmadd231ps %zmm0,%zmm6,%zmm1 */
		0x48, 0x83, 0x6c, 0x24, 0x18, 0x08, /* subq $8,0x18(%rsp) */
		0x75, 0xf2,			    /* jne to the block's start */
		0x7c, 0x00,			    /* jl to the next one */
	};
	size_t begin_bytes = not_overwritten_end - not_overwritten_begin, blocks = 20000;
	size_t size_bytes = begin_bytes + blocks * sizeof(block);
	AUTO_FREE uint8_t *code = malloc(size_bytes);
	struct unwind_rows rows = {0};
	struct unwind_row row;

	assert_non_null(code);
	memcpy(code, not_overwritten_begin, begin_bytes);
	for (size_t i = 0; i < blocks; i++)
		memcpy(code + begin_bytes + i * sizeof(block), block, sizeof(block));
	assert_int_equal(code_unwind(code, size_bytes, 0x7f0000001000, &code_entry_called, &rows),
			 0);
	row = unwind_rows_at(&rows, size_bytes - 1);
	assert_int_equal(row.cfa, UNWIND_CFA_AT_SLOT(120, 32));
	assert_int_equal(row.rbp, -2);
	unwind_rows_deinit(&rows);
}

/* The address of a frame that has ended, in a register and in a slot below rsp. */
CODE(ended, PUSHES "xor %ebp,%ebp\n mov %rsp,%rcx\n and $-64,%rsp\n push %rcx\n mov %rsp,%rdx\n"
		   "pop %rsp\n mov %rdx,%rsp\n nop");

CASE(test_ended_frame)
{
	CHECK(ended, "0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n4: rsp+32 rbp-16\n"
		     "13: unknown\n14: [rsp+0]+32 rbp-16\n18: rsp+32 rbp-16\n21: unknown\n");
}

/* An aligned frame inside another one: the CFA is known again at the end of the inner one. */
CODE(nested, PUSHES "xor %ebp,%ebp\n mov %rsp,%rcx\n and $-64,%rsp\n push %rcx\n" INJECTOR
		    "mov (%rsp),%rsp\n" POPS);

CASE(test_nested)
{
	CHECK(nested, "0: rsp+8\n1: rsp+16 rbp-16\n2: rsp+24 rbp-16\n4: rsp+32 rbp-16\n"
		      "13: unknown\n14: [rsp+0]+32 rbp-16\n15: [rsp+8]+32 rbp-16\n"
		      "17: [rsp+16]+32 rbp-16\n24: [rsp+24]+32 rbp-16\n28: unknown\n"
		      "58: [rsp+16]+32 rbp-16\n60: [rsp+8]+32 rbp-16\n61: [rsp+0]+32 rbp-16\n"
		      "65: rsp+32 rbp-16\n67: rsp+24 rbp-16\n68: rsp+16 rbp-16\n69: rsp+8\n");
}

/* Paths that keep different values in the slot, and paths of which one keeps none. */
CODE(different, "push %rbx\n mov %rsp,%rax\n test %edi,%edi\n je 1f\n lea 8(%rsp),%rax\n"
		"1: and $-64,%rsp\n mov %rax,(%rsp)\n nop");
CODE(missing, "push %rbx\n mov %rsp,%rax\n and $-64,%rsp\n test %edi,%edi\n je 1f\n"
	      "mov %rax,(%rsp)\n 1: mov $0,%eax\n nop");
CODE(same, "push %rbx\n mov %rsp,%rax\n and $-64,%rsp\n test %edi,%edi\n je 1f\n"
	   "mov %rax,(%rsp)\n jmp 2f\n 1: mov %rax,(%rsp)\n 2: mov $0,%eax\n nop");

CASE(test_slots_that_join)
{
	CHECK(different, "0: rsp+8\n1: rsp+16\n17: unknown\n");
	CHECK(missing, "0: rsp+8\n1: rsp+16\n8: unknown\n");
	CHECK(same, "0: rsp+8\n1: rsp+16\n8: unknown\n16: [rsp+0]+16\n18: unknown\n"
		    "22: [rsp+0]+16\n");
}

/* Without the caller's rbp, a row by a slot would make the caller's caller wrong. */
CODE(no_rbp, "mov %rsp,%rax\n and $-64,%rsp\n push %rax\n xor %ebp,%ebp\n nop");

CASE(test_lost_rbp)
{
	CHECK(no_rbp, "0: rsp+8\n7: unknown\n8: [rsp+0]+8\n10: unknown\n");
}
