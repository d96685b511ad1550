/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/stack_start.h"

#include <string.h>

#include "base/scope.h"

#define CALL	    0xe8
#define CALL_BYTES  5
#define RET	    0xc3
#define HLT	    0xf4
#define END_BYTES   48 /* distance of hlt from the beginning */
#define MIN_BYTES   16 /* of a program's start */
#define ANY	    -1
#define PATTERN_MAX 16

/* Instructions at which a stack begins; the code goes on up to a hlt. */
struct pattern {
	int16_t bytes[PATTERN_MAX]; /* or ANY */
	uint8_t size_bytes;
	uint8_t rare;	     /* index of the byte that is least frequent in code */
	bool is_returned_to; /* to its first byte, which is behind other code */
};

static const struct pattern patterns[] = {
	/*
	 * __start_context of glibc: mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je. The return
	 * address of a context's function is its first byte.
	 */
	{{0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74}, 11, 2, true},
	/* make_fcontext of Boost: jmp *%rbx; and behind it xor %rdi,%rdi; call; hlt */
	{{0xff, 0xe3, 0x48, 0x31, 0xff, CALL, ANY, ANY, ANY, ANY, HLT}, 11, 1, false},
	/* __clone of musl: xor %ebp,%ebp; pop %rdi; call *%r9 */
	{{0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1}, 6, 1, false},
};

static bool is_there(const struct pattern *pattern, const uint8_t *at)
{
	for (size_t i = 0; i < pattern->size_bytes; i++) {
		if (pattern->bytes[i] != ANY && pattern->bytes[i] != at[i])
			return false;
	}
	return true;
}

/*
 * Returns the offset of the first place of a pattern at or after `from`, or code_bytes. memchr()
 * for a rare byte is several times as fast as memmem().
 */
static size_t place_of(const struct pattern *pattern, const uint8_t *code, size_t code_bytes,
		       size_t from)
{
	int rare = pattern->bytes[pattern->rare];
	const uint8_t *at;

	for (; from < code_bytes && code_bytes - from >= pattern->size_bytes; from++) {
		/* The last place at which the rare byte can be leaves room for what is behind it.
		 */
		at = memchr(code + from + pattern->rare, rare,
			    code_bytes - from - pattern->size_bytes + 1);
		if (!at)
			break;
		at -= pattern->rare;
		from = (size_t)(at - code);
		if (is_there(pattern, at))
			return from;
	}
	return code_bytes;
}

static bool range_of(const struct pattern *pattern, const uint8_t *code, size_t code_bytes,
		     size_t at, struct stack_start *ret)
{
	size_t left = code_bytes - at < END_BYTES ? code_bytes - at : END_BYTES;
	size_t last = pattern->size_bytes - 1u;
	const uint8_t *end = memchr(code + at + last, HLT, left - last);

	if (!end)
		return false;
	ret->start = at;
	ret->end = (size_t)(end - code) + 1;
	/* A function before it may end there with ret, which has rows of its own. */
	if (pattern->is_returned_to && at && code[at - 1] != RET)
		ret->start--;
	return true;
}

bool stack_start_find(const uint8_t *code, size_t code_bytes, size_t from, struct stack_start *ret)
{
	struct stack_start found;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		size_t at = place_of(&patterns[i], code, code_bytes, from);

		if (at < code_bytes && range_of(&patterns[i], code, code_bytes, at, &found) &&
		    (!any || found.start < ret->start)) {
			*ret = found;
			any = true;
		}
	}
	return any;
}

size_t stack_start_of_entry(const uint8_t *code, size_t code_bytes, bool narrow)
{
	/* endbr64; xor %ebp,%ebp or %rbp,%rbp: by the ABI, rbp marks the outermost frame. */
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, clear[] = {0x31, 0xed},
			     align[] = {0x48, 0x83, 0xe4, 0xf0}; /* and $-16,%rsp */
	size_t at = code_bytes >= sizeof(endbr) && !memcmp(code, endbr, sizeof(endbr))
			    ? sizeof(endbr)
			    : 0;
	const uint8_t *aligned;

	if (code_bytes < MIN_BYTES)
		return 0;
	if (code_bytes > STACK_START_BYTES_MAX)
		code_bytes = STACK_START_BYTES_MAX;
	at += at < code_bytes && code[at] == 0x48;
	if (code_bytes - at < sizeof(clear) || memcmp(code + at, clear, sizeof(clear)))
		return 0;
	/* Without its first byte, the instruction is and $-16,%esp. */
	aligned = memmem(code + at, code_bytes - at, align + narrow, sizeof(align) - narrow);
	if (!aligned)
		return 0;
	for (at = (size_t)(aligned - code) + sizeof(align) - narrow; at + CALL_BYTES <= code_bytes;
	     at++) {
		if (code[at] == CALL)
			return at + CALL_BYTES;
		if (code[at] == 0xff && code[at + 1] == 0x15) /* call *N(%rip) */
			return at + CALL_BYTES + 1;
	}
	return 0;
}
