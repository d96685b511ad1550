/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/gaps/builtin_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "decode/x86/code_unwind.h"

#define JUMPS_MAX 65536

#define CALL_BYTE	  0xe8 /* with the distance in 4 bytes, as below */
#define JUMP_BYTE	  0xe9
#define BRANCH_FIRST_BYTE 0x0f
#define DISTANCE_BYTES	  4

static struct builtin *find(const struct builtins *builtins, uint64_t address)
{
	struct builtin *all = builtins->all.data;
	size_t i = partition_point((size_t)0, builtins->all.size, next, all[next].start <= address);

	return i && address - all[i - 1].start < all[i - 1].size_bytes ? &all[i - 1] : NULL;
}

const struct builtin *builtin_at(const struct builtins *builtins, uint64_t address)
{
	return find(builtins, address);
}

/* Note the instruction at `site` whose last byte before the distance is at `opcode`. */
static int note(struct builtins *builtins, const uint8_t *opcode, uint64_t site, uint64_t end)
{
	struct builtin *target;
	int32_t distance;

	memcpy(&distance, opcode + 1, sizeof(distance));
	target = find(builtins, end + distance);
	if (!target || target->start != end + distance)
		return 0;
	if (*opcode == CALL_BYTE)
		target->kind = V8_CALLED_BUILTIN;
	else if (builtins->unnamed && builtins->jumps.size < JUMPS_MAX)
		return vec_push(&builtins->jumps, ((struct builtin_jump){target->start, site}));
	return 0;
}

static int search(struct builtins *builtins, const struct builtin *in, const uint8_t *code)
{
	int err = 0;

	for (uint32_t at = 0; at + 1 + DISTANCE_BYTES <= in->size_bytes && !err; at++) {
		bool branch = at && code[at - 1] == BRANCH_FIRST_BYTE && (code[at] & 0xf0) == 0x80;

		if (branch || code[at] == CALL_BYTE || code[at] == JUMP_BYTE)
			err = note(builtins, code + at, in->start + at - branch,
				   in->start + at + 1 + DISTANCE_BYTES);
	}
	return err;
}

static int by_target(const void *a_, const void *b_)
{
	const struct builtin_jump *a = a_, *b = b_;

	return a->target < b->target ? -1 : a->target > b->target;
}

int builtin_calls_search(struct builtins *builtins, const struct elf_file *elf)
{
	AUTO_FREE uint8_t *code = malloc(CODE_UNWIND_BYTES_MAX);
	int err = 0;

	if (!code)
		return -ENOMEM;
	for (size_t i = 0; i < builtins->all.size && !err; i++) {
		const struct builtin *builtin = &builtins->all.data[i];
		uint64_t offset;

		if (!elf_file_offset(elf, builtin->start, &offset))
			continue;
		err = blob_read(elf->blob, offset, code, builtin->size_bytes);
		err = err == -EBADMSG ? 0 : err ?: search(builtins, builtin, code);
	}
	if (builtins->jumps.size)
		qsort(builtins->jumps.data, builtins->jumps.size, sizeof(*builtins->jumps.data),
		      by_target);
	return err;
}
