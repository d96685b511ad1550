/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What machine code has where a function returns to: a call before it. Exceptions are the system
 * call that ends the handler of a signal; and code that a virtual machine makes functions return
 * to, since it has replaced their callers. For BPF and user space. Code is given as 8 bytes in a
 * number, the first byte in its lowest bits.
 */
#ifndef JITBPF_BPF_CALL_SITE_H
#define JITBPF_BPF_CALL_SITE_H

#include <linux/types.h>

#define CALL_SITE_RELATIVE	 0xe8
#define CALL_SITE_RELATIVE_BYTES 5
#define CALL_SITE_INDIRECT	 0xff
#define CALL_SITE_INDIRECT_REG	 2 /* of the ModRM byte */
#define CALL_SITE_INDIRECT_MAX	 7

/* Returns the size of a call through a register or memory, by its ModRM and SIB bytes. */
static inline __attribute__((always_inline)) __u32 call_site_indirect_bytes(__u8 modrm, __u8 sib)
{
	__u32 mode = modrm >> 6, rm = modrm & 7, size_bytes = 2 + (rm == 4);

	if (mode == 3)
		return 2;
	if (mode == 1)
		return size_bytes + 1;
	if (mode == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		return size_bytes + 4;
	return size_bytes;
}

/* Returns the byte that is `distance` bytes before the end of code. */
static inline __attribute__((always_inline)) __u8 call_site_byte(__u64 code, __u32 distance)
{
	return (__u8)(code >> (64 - 8 * distance));
}

/*
 * Returns whether code can end with a near call. It is not decoded from its beginning, so the end
 * of another instruction can look like a call: 1 in 230 random values does.
 */
static inline __attribute__((always_inline)) int call_site_is_call(__u64 code)
{
	if (call_site_byte(code, CALL_SITE_RELATIVE_BYTES) == CALL_SITE_RELATIVE)
		return 1;
	for (__u32 length = 2; length <= CALL_SITE_INDIRECT_MAX; length++) {
		__u8 modrm = call_site_byte(code, length - 1);
		__u8 sib = length > 2 ? call_site_byte(code, length - 2) : 0;

		if (call_site_byte(code, length) == CALL_SITE_INDIRECT &&
		    (modrm >> 3 & 7) == CALL_SITE_INDIRECT_REG &&
		    call_site_indirect_bytes(modrm, sib) == length)
			return 1;
	}
	return 0;
}

#define CALL_SITE_THUNK_BYTES 6 /* of a thunk before its return address */
#define CALL_SITE_SAVES_RBP   1

/*
 * A thunk only makes its frame, calls a register, and returns. Functions of a few bytes like that
 * are made at run time; CPython makes one for each of its functions. Returns the bytes of the frame
 * below the thunk's return address, with CALL_SITE_SAVES_RBP if they are the saved rbp; 0 if it is
 * no thunk. `before`: the bytes before the address that the called function returns to, `behind`:
 * those from there on.
 */
static inline __attribute__((always_inline)) __u32 call_site_thunk(__u64 before, __u64 behind)
{
	__u32 enter = (__u32)before, frame = enter >> 24;

	if ((before >> 32 & 0xf8ff) != 0xd0ff) /* call *%reg */
		return 0;
	/* push %rbp; mov %rsp,%rbp: pop %rbp; ret */
	if (enter == 0xe5894855)
		return (behind & 0xffff) == 0xc35d ? 8 | CALL_SITE_SAVES_RBP : 0;
	/* sub $frame,%rsp: add $frame,%rsp; ret */
	return (enter & 0xffffff) == 0xec8348 && frame < 128 && !(frame & 7) &&
			       (behind & 0xffffffffff) == (0xc300c48348 | (__u64)frame << 24)
		       ? frame
		       : 0;
}

#define CALL_SITE_PADDING   0xcc /* int3 */
#define CALL_SITE_ALIGNMENT 32	 /* of the code behind padding */

/*
 * Returns whether functions can return to an address or file offset behind the code `before`. A
 * virtual machine makes them return to the start of its code, which is behind padding.
 */
static inline __attribute__((always_inline)) int call_site_is_behind(__u64 before, __u64 address)
{
	return call_site_is_call(before) ||
	       (!(address % CALL_SITE_ALIGNMENT) && call_site_byte(before, 1) == CALL_SITE_PADDING);
}

/*
 * Returns whether code is where handlers of signals return to: `mov $15,%rax; syscall`. In 32-bit
 * code: `mov $173,%eax; int $0x80` or `pop %eax; mov $119,%eax; int $0x80`.
 */
static inline __attribute__((always_inline)) int call_site_is_signal_return(__u64 code)
{
	return code == 0x0f0000000fc0c748ull || code == 0x80cd00000077b858ull ||
	       (code & ~0ull >> 8) == 0x80cd000000adb8ull;
}

#endif
