/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"

enum line_offsets code_line_rules_find(const struct code_line_rules *rules, const char *module)
{
	for (size_t i = 0; rules && i < rules->count; i++) {
		const struct code_line_rule *rule = &rules->rules[i];

		if (!strcmp(rule->module, module) || (!*module && !strcmp(rule->module, "[jit]")))
			return rule->offsets;
	}
	return LINE_OFFSETS_GUESS;
}

static bool is_sorted(const struct jitbpf_code_line *table, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (table[i].offset < table[i - 1].offset)
			return false;
	}
	return true;
}

int code_lines_copy(struct jitbpf_code_line *table, const void *lines, size_t count)
{
	AUTO_FREE struct sort_key *keys = NULL;

	if (count)
		memcpy(table, lines, count * sizeof(*table));
	if (is_sorted(table, count))
		return 0;
	keys = calloc(count, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){.key = table[i].offset, .item = table[i].line};
	if (sort_keys(keys, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		table[i] = (struct jitbpf_code_line){(uint32_t)keys[i].key, keys[i].item};
	return 0;
}

/*
 * The last entry of a table of ends has the size of the code; the first one of a table of
 * starts has offset 0. LLVM's tables of ends begin with 0 as well (an empty range), so
 * the last entry decides first.
 */
static enum line_offsets guess_offsets(const struct jitbpf_code_line *table, size_t count,
				       uint64_t size_bytes)
{
	if (table[count - 1].offset != size_bytes && !table[0].offset &&
	    table[count - 1].offset < size_bytes)
		return LINE_OFFSETS_START;
	return LINE_OFFSETS_END;
}

/* Add an entry, unless its line is that of the entry before. Never writes ahead of reading. */
static uint32_t put_line(struct jitbpf_code_line *table, uint32_t size, uint32_t offset,
			 uint32_t line)
{
	if (size ? table[size - 1].line == line : !line)
		return size;
	table[size] = (struct jitbpf_code_line){offset, line};
	return size + 1;
}

uint32_t code_lines_settle(struct jitbpf_code_line *table, size_t count, uint64_t size_bytes,
			   enum line_offsets offsets)
{
	uint32_t size = 0, end = 0;

	if (!count)
		return 0;
	if (offsets == LINE_OFFSETS_GUESS)
		offsets = guess_offsets(table, count, size_bytes);
	for (size_t i = 0; i < count; i++) {
		struct jitbpf_code_line entry = table[i];

		if (offsets == LINE_OFFSETS_START) {
			if (!i || entry.offset != end)
				size = put_line(table, size, entry.offset, entry.line);
		} else if (entry.offset > end) {
			size = put_line(table, size, end, entry.line);
		}
		end = entry.offset;
	}
	return offsets == LINE_OFFSETS_START ? size : put_line(table, size, end, 0);
}

uint32_t code_lines_at(const struct jitbpf_code_line *table, uint32_t count, uint64_t offset)
{
	uint32_t after = partition_point(0, count, i, table[i].offset <= offset);

	return after ? table[after - 1].line : 0;
}
