/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/perl/perl_function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/utf8.h"
#include "runtimes/runtime_check.h"

#define STATEMENT_STEPS 8 /* operations before the first statement */
#define ANONYMOUS	"__ANON__"
#define EVAL		"(eval "

struct runtime_check perl_function_check(void)
{
	return (struct runtime_check){
		.offset = PERL_SUB_STASH,
		.size_bytes = PERL_SUB_FILE - PERL_SUB_STASH,
		/* The hash of the name, or the body of the glob; type and line of the start. */
		.name_count = 2,
		.name_at = {PERL_SUB_NAME, PERL_SUB_START},
		.name_word = {0, PERL_OP_TYPE},
		/* The glob, its body, its name's hash. */
		.links_at = PERL_SUB_FLAGS,
		.links_mask = PERL_SUB_NAMED,
		.link_count = 3,
		.link = {{.step = PERL_SUB_NAME, .word_at = RUNTIME_NO_OFFSET},
			 {.step = PERL_VALUE_BODY, .word_at = RUNTIME_NO_OFFSET},
			 {.step = PERL_GLOB_NAME, .word_at = 0, .word_mask = UINT64_MAX}},
	};
}

/* Append a character of Latin-1. */
static char *put_latin(char *to, uint8_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

static bool is_utf8(const char *text)
{
	uint32_t bytes;

	for (; *text; text += bytes) {
		if (utf8_next(text, &bytes) == UTF8_INVALID)
			return false;
	}
	return true;
}

/*
 * Perl keeps a name in Latin-1 if that has all its characters. But without "use utf8", the bytes of
 * a source are the characters.
 */
static int to_utf8(char **text)
{
	char *ret, *to;

	if (is_utf8(*text))
		return 0;
	ret = calloc(2, strlen(*text) + 1);
	if (!ret)
		return -ENOMEM;
	to = ret;
	for (const char *at = *text; *at; at++)
		to = put_latin(to, (uint8_t)*at);
	free(*text);
	*text = ret;
	return 0;
}

/* Read a text with its length before it. */
static int read_text(const struct process_memory *memory, uint64_t address, char **ret)
{
	AUTO_FREE char *text = NULL;
	uint32_t head[2];
	size_t bytes;
	uint8_t flags = 0;
	int err = process_memory_read(memory, address, head, sizeof(head));

	if (err)
		return err;
	if (!head[1] || head[1] > INT32_MAX)
		return -EBADMSG;
	bytes = head[1] < RUNTIME_NAME_MAX / 2 ? head[1] : RUNTIME_NAME_MAX / 2;
	text = calloc(1, bytes + 1);
	if (!text)
		return -ENOMEM;
	err = process_memory_read(memory, address + PERL_TEXT_BYTES, text, bytes);
	if (!err)
		err = process_memory_read(memory, address + PERL_TEXT_BYTES + head[1] + 1, &flags,
					  sizeof(flags));
	if (err)
		return err;
	if (flags & PERL_TEXT_UTF8)
		utf8_mend(text, bytes < head[1]);
	else if (bytes == head[1])
		err = to_utf8(&text);
	utf8_mend(text, bytes < head[1]);
	if (!err)
		*ret = TAKE_PTR(text);
	return err;
}

/* Read the body of a value of a type. */
static int read_body(const struct process_memory *memory, uint64_t value, uint32_t type,
		     uint64_t *ret)
{
	uint32_t head[PERL_VALUE_BYTES / 4];
	int err = process_memory_read(memory, value, head, sizeof(head));

	if (err)
		return err;
	if ((head[PERL_VALUE_FLAGS / 4] & PERL_TYPE_MASK) != type)
		return -EBADMSG;
	*ret = (uint64_t)head[1] << 32 | head[0];
	return 0;
}

/* Read the name of a package. */
static int read_package(const struct process_memory *memory, uint64_t stash, char **ret)
{
	uint64_t body, name;
	uint32_t names;
	int err = read_body(memory, stash, PERL_TYPE_HASH, &body);

	err = err ?: process_memory_word(memory, body + PERL_HASH_NAME, &name);
	err = err ?: process_memory_read(memory, body + PERL_HASH_NAMES, &names, sizeof(names));
	if (!err && names)
		err = process_memory_word(memory, name, &name);
	return err ?: read_text(memory, name, ret);
}

/* What was read of the body of a function. */
struct sub {
	uint64_t stash, start, name, file;
	uint32_t flags;
};

static int read_sub(const struct process_memory *memory, uint64_t object, struct sub *ret)
{
	uint64_t words[PERL_SUB_BYTES / 8];
	int err = process_memory_read(memory, object, words, sizeof(words));

	if (err)
		return err;
	*ret = (struct sub){
		.stash = words[PERL_SUB_STASH / 8],
		.start = words[PERL_SUB_START / 8],
		.name = words[PERL_SUB_NAME / 8],
		.file = words[PERL_SUB_FILE / 8],
		.flags = (uint32_t)(words[PERL_SUB_FLAGS / 8] >> 32),
	};
	return ret->flags & PERL_SUB_XS || !ret->start ? -EBADMSG : 0;
}

static int write_name(const struct process_memory *memory, const struct sub *sub, char **ret)
{
	AUTO_FREE char *name = NULL, *package = NULL;
	uint64_t body, text = sub->name, stash = sub->stash;
	int err = 0;

	if (!(sub->flags & PERL_SUB_NAMED) && sub->name) {
		err = read_body(memory, sub->name, PERL_TYPE_GLOB, &body);
		err = err ?: process_memory_word(memory, body + PERL_GLOB_NAME, &text);
		err = err ?: process_memory_word(memory, body + PERL_GLOB_STASH, &stash);
	}
	if (!err && text)
		err = read_text(memory, text, &name);
	/* A package can be deleted while its functions run. */
	if (!err && stash && !(sub->flags & PERL_SUB_LEXICAL))
		err = read_package(memory, stash, &package);
	if (err)
		return err;
	return asprintf(ret, "%s%s%s", package ?: "", package ? "::" : "", name ?: ANONYMOUS) < 0
		       ? -ENOMEM
		       : 0;
}

/* Set *ret to the address of the first statement of a function, 0: not found. */
static int find_statement(const struct process_memory *memory, const struct perl_layout *layout,
			  uint64_t start, uint64_t *ret)
{
	*ret = 0;
	for (uint32_t i = 0; i < STATEMENT_STEPS && start; i++) {
		uint64_t words[PERL_OP_TYPE / 8 + 1];
		uint32_t type;
		int err = process_memory_read(memory, start, words, sizeof(words));

		if (err)
			return err;
		type = words[PERL_OP_TYPE / 8] & PERL_OP_MASK;
		if (type == layout->next_state || type == layout->next_state + 1u) {
			*ret = start;
			return 0;
		}
		start = words[PERL_OP_NEXT / 8];
	}
	return 0;
}

static int read_place(const struct process_memory *memory, const struct perl_layout *layout,
		      const struct sub *sub, struct runtime_function *ret)
{
	static const struct runtime_sections all = {0};
	char text[RUNTIME_OBJECT_BYTES_MAX] = "";
	uint64_t statement, ignored;
	int err = find_statement(memory, layout, sub->start, &statement);

	if (!err && statement)
		err = process_memory_read(memory, statement + PERL_COP_LINE, &ret->first_line,
					  sizeof(ret->first_line));
	if (!err && sub->file)
		err = runtime_check_text(memory, &all, sub->file, text, &ignored);
	if (err == -EBADMSG) /* too long */
		text[0] = err = 0;
	if (err)
		return err;
	ret->file = strdup(text);
	if (!ret->file)
		return -ENOMEM;
	err = to_utf8(&ret->file);
	return err;
}

static int check_of(const struct process_memory *memory, uint64_t object, uint64_t *ret)
{
	const struct runtime_check check = perl_function_check();

	return runtime_check_read(memory, &check, object, false, ret);
}

static int read_code(const struct process_memory *memory, const struct perl_layout *layout,
		     uint64_t object, struct runtime_function *ret)
{
	struct sub sub;
	uint64_t after;
	int err = check_of(memory, object, &ret->check);

	err = err ?: read_sub(memory, object, &sub);
	err = err ?: read_place(memory, layout, &sub, ret);
	err = err ?: write_name(memory, &sub, &ret->name);
	if (err)
		return err;
	process_memory_refresh(memory);
	err = check_of(memory, object, &after);
	return err ?: after != ret->check ? err ?: -EAGAIN : 0;
}

static int read_file(const struct process_memory *memory, const struct runtime_sections *sections,
		     uint64_t address, struct runtime_function *ret)
{
	char text[RUNTIME_OBJECT_BYTES_MAX];
	int err = runtime_check_text(memory, sections, address, text, &ret->check);

	if (err)
		return err;
	ret->first_line = 1;
	ret->file = strdup(begins_with(text, EVAL) ? "(eval)" : text);
	if (!ret->file)
		return -ENOMEM;
	err = to_utf8(&ret->file);
	if (err)
		return err;
	if (begins_with(text, EVAL))
		ret->name = strdup("(eval)");
	else if (asprintf(&ret->name, "{main} %s", path_file(ret->file)) < 0)
		ret->name = NULL;
	return ret->name ? 0 : -ENOMEM;
}

int perl_function_read(const struct process_memory *memory, const struct runtime_sections *sections,
		       const struct perl_layout *layout, uint64_t object, uint64_t owner,
		       struct runtime_function *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	int err = owner ? read_file(memory, sections, object, &function)
			: read_code(memory, layout, object, &function);

	if (err)
		return err;
	*ret = function;
	function = (struct runtime_function){0};
	return 0;
}
