/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the events of a script, one per line:
 *
 *   load id name addr size [class] [source]
 *   v2 id name addr size [class] [source] [module]
 *   v3 id name addr size [class] [source] [module] [arch]
 *   inline id parent name addr size [class] [source]
 *   update id addr size
 *   segment addr size type [format]
 *   unload id                    the payload is the id only
 *   unload-range addr size       the payload is a load with id 0
 *   raw event                    the payload is NULL
 *   lines offset:line ...        line table of the next load
 *   engine 1|2                   sender of the following events: the program or a library
 *   code addr generation         write a function, as in storm mode
 *   run addr milliseconds        call the function until it has taken that CPU time
 *   sleep milliseconds
 *
 * Words are separated by blanks and may be in double quotes; - is NULL. addr is a
 * number, or @offset within the arena. # begins a comment line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "tests/programs/engine/engine.h"

#define WORDS_MAX 32
#define NS_PER_MS 1000000u

struct script {
	struct engine *engine;
	VEC(struct jitapi_line) lines;
	/* Sends events of the second engine; NULL: the first engine sends them. */
	jit_second_fn second;
	char *words[WORDS_MAX]; /* of the current line */
	size_t word_count;
	unsigned int answer; /* result of the line's event, if it was sent */
	bool sent;
};

static int number_parse(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	return end == text || *end || errno ? -EINVAL : 0;
}

/* Parse a word as a number; 0 if the line has no such word. */
static int script_number(const struct script *script, size_t word, uint64_t *ret)
{
	*ret = 0;
	return word < script->word_count ? number_parse(script->words[word], ret) : 0;
}

static int script_address(const struct script *script, size_t word, uint64_t *ret)
{
	const char *text = script->words[word];
	int err;

	if (*text != '@')
		return number_parse(text, ret);
	err = number_parse(text + 1, ret);
	*ret += (uintptr_t)script->engine->arena.start;
	return err;
}

/* Parse an address with space for a function. */
static int script_code(const struct script *script, size_t word, uint8_t **ret)
{
	const struct arena *arena = &script->engine->arena;
	uint64_t address, start = (uintptr_t)arena->start, end = (uintptr_t)arena_end(arena);
	int err = script_address(script, word, &address);

	if (err)
		return err;
	if (address < start || address >= end || end - address < script->engine->options.code_bytes)
		return -EINVAL;
	*ret = (uint8_t *)(uintptr_t)address;
	return 0;
}

static const char *script_string(const struct script *script, size_t word)
{
	const char *text = word < script->word_count ? script->words[word] : NULL;

	return text && strcmp(text, "-") == 0 ? NULL : text;
}

static void script_send(struct script *script, unsigned int event, void *payload)
{
	const struct jit_client *client = &script->engine->client;

	if (script->second && client->mode == JIT_SAMPLING_ON)
		script->answer = script->second(client->notify, event, payload);
	else
		script->answer = jit_client_notify(client, event, payload);
	script->sent = true;
}

/* Parse "name addr size" from a word on, and attach the pending line table. */
static int script_method(struct script *script, size_t word, struct jitapi_method *ret)
{
	uint64_t id, size_bytes;

	if (script_number(script, 1, &id) || script_address(script, word + 1, &ret->address) ||
	    script_number(script, word + 2, &size_bytes))
		return -EINVAL;
	ret->id = (uint32_t)id;
	ret->name = script_string(script, word);
	ret->size_bytes = (uint32_t)size_bytes;
	ret->lines = script->lines.data;
	ret->line_count = (uint32_t)script->lines.size;
	script->lines.size = 0;
	return 0;
}

static int do_load(struct script *script)
{
	struct jitapi_load load = {0};

	if (script_method(script, 2, &load.method))
		return -EINVAL;
	load.class_name = script_string(script, 5);
	load.source = script_string(script, 6);
	script_send(script, JIT_EVENT_LOAD, &load);
	return 0;
}

static int do_load_v2(struct script *script)
{
	struct jitapi_load_v2 load = {0};

	if (script_method(script, 2, &load.method))
		return -EINVAL;
	load.class_name = script_string(script, 5);
	load.source = script_string(script, 6);
	load.module = script_string(script, 7);
	script_send(script, JIT_EVENT_LOAD_V2, &load);
	return 0;
}

static int do_load_v3(struct script *script)
{
	struct jitapi_load_v3 load = {0};
	uint64_t arch;

	if (script_method(script, 2, &load.v2.method) || script_number(script, 8, &arch))
		return -EINVAL;
	load.v2.class_name = script_string(script, 5);
	load.v2.source = script_string(script, 6);
	load.v2.module = script_string(script, 7);
	load.arch = (uint32_t)arch;
	script_send(script, JIT_EVENT_LOAD_V3, &load);
	return 0;
}

static int do_inline(struct script *script)
{
	struct jitapi_inline_load load = {0};
	uint64_t parent;

	if (script_number(script, 2, &parent) || script_method(script, 3, &load.method))
		return -EINVAL;
	load.method.parent_id = (uint32_t)parent;
	load.class_name = script_string(script, 6);
	load.source = script_string(script, 7);
	script_send(script, JIT_EVENT_INLINE_LOAD, &load);
	return 0;
}

static int do_update(struct script *script)
{
	struct jitapi_load load = {0};
	uint64_t id, size_bytes;

	if (script_number(script, 1, &id) || script_address(script, 2, &load.method.address) ||
	    script_number(script, 3, &size_bytes))
		return -EINVAL;
	load.method.id = (uint32_t)id;
	load.method.size_bytes = (uint32_t)size_bytes;
	script_send(script, JIT_EVENT_UPDATE, &load);
	return 0;
}

static int do_segment(struct script *script)
{
	struct jitapi_update update = {0};
	uint64_t size_bytes, type;

	if (script_address(script, 1, &update.address) || script_number(script, 2, &size_bytes) ||
	    script_number(script, 3, &type))
		return -EINVAL;
	update.size_bytes = (uint32_t)size_bytes;
	update.type = (uint32_t)type;
	update.format = script_string(script, 4);
	script_send(script, JIT_EVENT_UPDATE_V2, &update);
	return 0;
}

static int do_unload(struct script *script)
{
	uint64_t number;
	uint32_t id;

	if (script_number(script, 1, &number))
		return -EINVAL;
	id = (uint32_t)number;
	script_send(script, JIT_EVENT_UNLOAD, &id);
	return 0;
}

static int do_unload_range(struct script *script)
{
	struct jitapi_load load = {0};
	uint64_t size_bytes;

	if (script_address(script, 1, &load.method.address) ||
	    script_number(script, 2, &size_bytes))
		return -EINVAL;
	load.method.size_bytes = (uint32_t)size_bytes;
	script_send(script, JIT_EVENT_UNLOAD, &load);
	return 0;
}

static int do_raw(struct script *script)
{
	uint64_t event;

	if (script_number(script, 1, &event))
		return -EINVAL;
	script_send(script, (unsigned int)event, NULL);
	return 0;
}

static int do_lines(struct script *script)
{
	for (size_t i = 1; i < script->word_count; i++) {
		struct jitapi_line line;
		int end = 0;

		if (sscanf(script->words[i], "%" SCNi32 ":%" SCNi32 "%n", (int32_t *)&line.offset,
			   (int32_t *)&line.line, &end) != 2 ||
		    script->words[i][end] || vec_push(&script->lines, line))
			return -EINVAL;
	}
	return 0;
}

static int do_engine(struct script *script)
{
	uint64_t number;

	if (script_number(script, 1, &number) || number < 1 || number > 2)
		return -EINVAL;
	script->second = number == 2 ? jit_client_second(&script->engine->client) : NULL;
	return number == 2 && !script->second ? -ENOENT : 0;
}

static int do_code(struct script *script)
{
	const struct options *options = &script->engine->options;
	uint64_t generation;
	uint8_t *code;

	if (script_code(script, 1, &code) || script_number(script, 2, &generation))
		return -EINVAL;
	code_write(code, options->code_bytes, (uint32_t)generation, (uint32_t)options->iterations);
	return 0;
}

static int do_run(struct script *script)
{
	uint64_t ms, end_ns;
	uint8_t *code;

	if (script_code(script, 1, &code) || script_number(script, 2, &ms))
		return -EINVAL;
	end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * NS_PER_MS;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		code_call(code);
	return 0;
}

static int do_sleep(struct script *script)
{
	uint64_t ms;

	if (script_number(script, 1, &ms))
		return -EINVAL;
	sleep_ns(ms * NS_PER_MS);
	return 0;
}

static const struct command {
	const char *name;
	size_t words_min, words_max; /* including the name of the command */
	int (*run)(struct script *script);
} commands[] = {
	{"load", 5, 7, do_load},     {"v2", 5, 8, do_load_v2},
	{"v3", 5, 9, do_load_v3},    {"inline", 6, 8, do_inline},
	{"update", 4, 4, do_update}, {"segment", 4, 5, do_segment},
	{"unload", 2, 2, do_unload}, {"unload-range", 3, 3, do_unload_range},
	{"raw", 2, 2, do_raw},	     {"lines", 2, WORDS_MAX, do_lines},
	{"code", 3, 3, do_code},     {"run", 3, 3, do_run},
	{"sleep", 2, 2, do_sleep},   {"engine", 2, 2, do_engine},
};

/* Split the line into words, in place. */
static int script_split(struct script *script, char *at)
{
	script->word_count = 0;
	for (;;) {
		bool quoted;
		char *end;

		at += strspn(at, " \t\r\n");
		if (!*at)
			break;
		if (script->word_count == WORDS_MAX)
			return -EINVAL;
		quoted = *at == '"';
		at += quoted;
		end = at + strcspn(at, quoted ? "\"" : " \t\r\n");
		if (quoted && !*end)
			return -EINVAL;
		script->words[script->word_count++] = at;
		at = end + (*end != 0);
		*end = 0;
	}
	return 0;
}

static int script_line(struct script *script, char *line)
{
	int err = script_split(script, line);

	if (err || !script->word_count || script->words[0][0] == '#')
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *command = &commands[i];

		if (strcmp(command->name, script->words[0]) != 0)
			continue;
		if (script->word_count < command->words_min ||
		    script->word_count > command->words_max)
			return -EINVAL;
		return command->run(script);
	}
	return -EINVAL;
}

int api_mode(struct engine *engine)
{
	AUTO_FCLOSE FILE *opened = NULL;
	AUTO_FREE char *line = NULL;
	struct script script = {.engine = engine};
	const char *path = engine->options.file;
	size_t capacity = 0, number = 0;
	FILE *file = stdin;
	int status = 0;

	if (path) {
		file = opened = fopen(path, "re");
		if (!file) {
			perror(path);
			return 1;
		}
	}
	while (getline(&line, &capacity, file) >= 0) {
		number++;
		script.sent = false;
		if (script_line(&script, line)) {
			fprintf(stderr, "jit-engine: line %zu: not understood\n", number);
			status = 2;
			break;
		}
		if (script.sent)
			printf("line %zu answer %u\n", number, script.answer);
	}
	vec_deinit(&script.lines);
	return status;
}
