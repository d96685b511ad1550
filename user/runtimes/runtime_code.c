/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_code.h"

#include <stdlib.h>
#include <string.h>

#include "decode/record/scope_table.h"

#define USER_SPACE (1ull << 47)
#define WORD_BYTES sizeof(uint64_t)

void runtime_code_deinit(struct runtime_code *code)
{
	free(code->name);
	free(code->source);
	free(code->scopes);
	*code = (struct runtime_code){0};
}

/* The memory that has all used words of an identity; empty if none is used. */
struct span {
	uint64_t start, end;
};

/* Returns false if the words are too far from each other, or outside of user space. */
static bool find_span(const struct runtime_identity *identity, struct span *ret)
{
	*ret = (struct span){.start = UINT64_MAX};
	for (uint32_t i = 0; i < RUNTIME_IDENTITY_WORDS; i++) {
		uint64_t address = identity->word[i].address;

		if (!identity->word[i].mask)
			continue;
		if (address >= USER_SPACE - WORD_BYTES)
			return false;
		ret->start = address < ret->start ? address : ret->start;
		ret->end = address + WORD_BYTES > ret->end ? address + WORD_BYTES : ret->end;
	}
	if (!ret->end)
		*ret = (struct span){0};
	return ret->end - ret->start <= RUNTIME_IDENTITY_SPAN;
}

bool runtime_code_is_valid(const struct runtime_code *code, uint64_t address)
{
	struct scope_table table;
	struct span span;

	if (code->start >= USER_SPACE || !code->size_bytes ||
	    code->size_bytes > RUNTIME_CODE_BYTES_MAX ||
	    code->start + code->size_bytes > USER_SPACE || address < code->start ||
	    address - code->start >= code->size_bytes)
		return false;
	if (!code->name || !*code->name || strlen(code->name) > RUNTIME_CODE_NAME_MAX ||
	    !code->source || strlen(code->source) > RUNTIME_CODE_NAME_MAX)
		return false;
	if (code->scopes && (code->scope_bytes > RUNTIME_CODE_SCOPES_MAX ||
			     scope_table_decode(code->scopes, code->scope_bytes, &table)))
		return false;
	return find_span(&code->identity, &span);
}

int runtime_identity_holds(const struct runtime_identity *identity,
			   const struct process_memory *memory, bool *ret_same)
{
	uint8_t bytes[RUNTIME_IDENTITY_SPAN];
	struct span span;
	bool same = true;
	int err;

	if (!find_span(identity, &span)) {
		*ret_same = false;
		return 0;
	}
	err = span.end ? process_memory_read(memory, span.start, bytes, span.end - span.start) : 0;
	if (err)
		return err;
	for (uint32_t i = 0; i < RUNTIME_IDENTITY_WORDS; i++) {
		uint64_t mask = identity->word[i].mask, word;

		if (!mask)
			continue;
		memcpy(&word, bytes + (identity->word[i].address - span.start), sizeof(word));
		same = same && (word & mask) == identity->word[i].value;
	}
	*ret_same = same;
	return 0;
}
