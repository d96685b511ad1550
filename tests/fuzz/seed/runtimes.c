/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a recording of processes with runtimes, whose functions are shown, unknown, hostile or not
 * shown: tests/golden/runtimes.jitbpf. To be run by hand after a change of the format, as
 * tests/fuzz/seed/recording.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/record/recorder.h"
#include "profile/ledger.h"
#include "uapi/recording.h"

#define START_NS  1000000000ull
#define PERIOD_NS 10000000ull

#define NATIVE(offset) (0x7f0000000000 + (offset))
#define INTERPRETER(offset)                                                                        \
	((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT | NATIVE(offset))
#define FUNCTION(n) ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))

enum { PYTHON = 100, PHP = 200, NEW_PYTHON = 300 };

/* Offsets of native functions in the file of a runtime. */
enum { SORT = 0x1000, EVAL = 0x2000, VECTOR = 0x3000, RUN_MAIN = 0x4000 };

struct writer {
	struct recorder *recorder;
	struct string_pool *strings;
	struct frame_table *frames;
	struct location_table locations;
	struct module_table modules;
	uint64_t samples;
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* A zeroed record of up to 64 KB. */
static void *make(uint16_t type, size_t size_bytes)
{
	static uint64_t room[8192];
	struct jitbpf_record *record = (void *)memset(room, 0, sizeof(room));

	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->time_ns = START_NS;
	return record;
}

static void put(struct writer *w, const void *record)
{
	require(!recorder_write(w->recorder, record));
}

static void put_process(struct writer *w, uint32_t pid, const char *comm, const char *path)
{
	struct jitbpf_comm *named = make(JITBPF_COMM, sizeof(*named));
	struct jitbpf_mapping *mapping;
	const struct module *module;

	named->pid = named->tid = pid;
	named->start_ns = pid;
	strcpy(named->comm, comm);
	put(w, named);
	mapping = make(JITBPF_MAPPING, sizeof(*mapping) + strlen(path) + 1);
	mapping->pid = mapping->tid = pid;
	mapping->start_ns = pid;
	mapping->address = NATIVE(0);
	mapping->size_bytes = 0x10000;
	mapping->inode = pid;
	mapping->dev_major = 8;
	mapping->build_id_bytes = JITBPF_BUILD_ID_MAX;
	memset(mapping->build_id, (int)(pid & 0xff), JITBPF_BUILD_ID_MAX);
	strcpy(mapping->path, path);
	put(w, mapping);
	require(!module_table_add(&w->modules, mapping, (struct owner_key){0}, &module));
}

/* Name the code at an offset of the n-th file. */
static void name(struct writer *w, uint32_t file, uint64_t offset, const char *text)
{
	struct location location = {.kind = LOCATION_NATIVE, .owner = file, .offset = offset};
	const char *path = module_table_get(&w->modules, file)->path;
	struct frame frame = {.kind = FRAME_KIND_NATIVE, .symbol_offset = 16};
	uint32_t number;

	require(!string_pool_add(w->strings, text, strlen(text), &frame.name) &&
		!string_pool_add(w->strings, path, strlen(path), &frame.module) &&
		!location_table_add(&w->locations, &location, &number) &&
		!frame_table_set(w->frames, number, &frame, 1));
}

static void put_runtime(struct writer *w, uint32_t pid, const char *engine, uint32_t status,
			uint16_t major, uint16_t minor)
{
	struct jitbpf_runtime *record = make(JITBPF_RUNTIME, sizeof(*record));

	record->pid = pid;
	record->start_ns = pid;
	record->status = status;
	record->version[0] = major;
	record->version[1] = minor;
	record->version[2] = 7;
	strcpy(record->name, engine);
	put(w, record);
}

static void put_function(struct writer *w, uint32_t pid, uint64_t number, const char *engine,
			 const char *text, const char *file, uint32_t line)
{
	size_t name_bytes = strlen(text) + 1, file_bytes = strlen(file) + 1;
	struct jitbpf_runtime_function *record =
		make(JITBPF_RUNTIME_FUNCTION, sizeof(*record) + name_bytes + file_bytes);

	record->number = number;
	record->pid = pid;
	record->first_line = line;
	record->name_bytes = (uint32_t)name_bytes;
	record->file_bytes = (uint32_t)file_bytes;
	strcpy(record->runtime, engine);
	memcpy(record->strings, text, name_bytes);
	memcpy(record->strings + name_bytes, file, file_bytes);
	put(w, record);
}

/* Put some samples of a stack, leaf first, which ends with 0. */
static void put_samples(struct writer *w, uint32_t pid, const char *comm, uint32_t count,
			uint16_t flags, const uint64_t *words)
{
	uint16_t frames = 0;

	while (words[frames] || words[frames + 1])
		frames++;
	for (uint32_t i = 0; i < count; i++) {
		struct jitbpf_sample *sample =
			make(JITBPF_SAMPLE, sizeof(*sample) + frames * sizeof(*words));

		sample->h.time_ns = START_NS + ++w->samples * PERIOD_NS;
		sample->h.flags = flags;
		sample->pid = sample->tid = pid;
		sample->start_ns = pid;
		sample->user_words = frames;
		sample->user_end = JITBPF_END_ROOT;
		strcpy(sample->comm, comm);
		memcpy(sample->words, words, frames * sizeof(*words));
		put(w, sample);
	}
}

#define SAMPLES(pid, comm, count, flags, ...)                                                      \
	put_samples(w, pid, comm, count, flags, (const uint64_t[]){__VA_ARGS__, 0, 0})

#define MAIN INTERPRETER(EVAL + 9), INTERPRETER(VECTOR + 1), INTERPRETER(RUN_MAIN + 1)

static void put_python(struct writer *w)
{
	put_process(w, PYTHON, "python3", "/usr/bin/python3.11");
	put_runtime(w, PYTHON, "CPython", JITBPF_RUNTIME_SHOWN, 3, 11);
	put_function(w, PYTHON, 1, "CPython", "Search.run", "/srv/shop/search.py", 10);
	put_function(w, PYTHON, 2, "CPython", "<module>", "/srv/shop/search.py", 1);
	put_function(w, PYTHON, 3, "CPython", "Search.run.<locals>.<lambda>", "/srv/shop/search.py",
		     14);
	put_function(w, PYTHON, 4, "CPython", "", "", 0);
	put_function(w, PYTHON, 5, "CPython", "a;b\nc \xff<i>\"", "/tmp/a;b\n\xff.py", 3);
	SAMPLES(PYTHON, "python3", 20, 0, FUNCTION(1), 12, FUNCTION(2), 40, MAIN);
	SAMPLES(PYTHON, "python3", 7, 0, FUNCTION(1), 13, FUNCTION(2), 40, MAIN);
	/* The interpreter calls C code, which calls back. */
	SAMPLES(PYTHON, "python3", 9, 0, FUNCTION(3), 14, INTERPRETER(EVAL), NATIVE(SORT + 5),
		FUNCTION(1), 15, FUNCTION(2), 41, MAIN);
	SAMPLES(PYTHON, "python3", 5, 0, NATIVE(SORT), FUNCTION(1), 15, FUNCTION(2), 41, MAIN);
	/* The innermost code is the interpreter's own. */
	SAMPLES(PYTHON, "python3", 4, 0, INTERPRETER(VECTOR), FUNCTION(1), 15, FUNCTION(2), 41,
		MAIN);
	SAMPLES(PYTHON, "python3", 3, 0, FUNCTION(4), 0, FUNCTION(2), 41, MAIN);
	SAMPLES(PYTHON, "python3", 2, 0, FUNCTION(5), 4, FUNCTION(2), 42, MAIN);
	SAMPLES(PYTHON, "python3", 1, JITBPF_SAMPLE_RUNTIME_CUT, FUNCTION(1), 12, INTERPRETER(EVAL),
		NATIVE(EVAL + 9), NATIVE(RUN_MAIN + 1));
	/* No record has this function. */
	SAMPLES(PYTHON, "python3", 1, 0, FUNCTION(99), 12, FUNCTION(2), 41, MAIN);
	/* Before the interpreter runs. */
	SAMPLES(PYTHON, "python3", 1, 0, NATIVE(RUN_MAIN));
}

static void put_php(struct writer *w)
{
	put_process(w, PHP, "php", "/usr/bin/php8.2");
	put_runtime(w, PHP, "PHP", JITBPF_RUNTIME_SHOWN, 8, 2);
	put_function(w, PHP, 11, "PHP", "App\\Search::run", "/srv/shop/Search.php", 5);
	put_function(w, PHP, 12, "PHP", "array_map", "", 0);
	put_function(w, PHP, 13, "PHP", "{main}", "/srv/shop/index.php", 1);
	SAMPLES(PHP, "php", 10, 0, FUNCTION(11), 7, FUNCTION(12), 0, FUNCTION(13), 20, MAIN);
	SAMPLES(PHP, "php", 15, 0, FUNCTION(11), 8 | JITBPF_POSITION_COMPILED, FUNCTION(13), 21,
		MAIN);
}

static void put_new_python(struct writer *w)
{
	put_process(w, NEW_PYTHON, "python3.15", "/opt/python/bin/python3.15");
	put_runtime(w, NEW_PYTHON, "CPython", JITBPF_RUNTIME_OTHER_VERSION, 3, 15);
	SAMPLES(NEW_PYTHON, "python3.15", 6, 0, NATIVE(EVAL), NATIVE(RUN_MAIN + 1));
}

static void put_names(struct writer *w)
{
	for (uint32_t file = 0; file < 3; file++) {
		static const struct {
			uint64_t offset;
			const char *python, *php;
		} code[] = {
			{SORT, "list_sort", "zend_sort"},
			{SORT + 4, "list_sort", "zend_sort"},
			{EVAL, "_PyEval_EvalFrameDefault", "execute_ex"},
			{EVAL + 9, "_PyEval_EvalFrameDefault", "execute_ex"},
			{EVAL + 8, "_PyEval_EvalFrameDefault", "execute_ex"},
			{VECTOR, "_PyEval_Vector", "zend_call_function"},
			{RUN_MAIN, "Py_RunMain", "php_execute_script"},
		};

		for (size_t i = 0; i < ARRAY_SIZE(code); i++)
			name(w, file, code[i].offset, file == 1 ? code[i].php : code[i].python);
	}
}

int main(int argc, char **argv)
{
	const struct run_info info = {
		.start_ns = START_NS,
		.wall_clock_ns = 1700000000000000000,
		.freq_hz = 99,
		.cpus = 2,
		.event = "cpu-clock",
		.command = "",
		.host = "box",
		.kernel = "6.18.0",
	};
	struct writer writer = {0}, *w = &writer;
	struct ledger ledger = {0};
	struct view view = {.info = &info, .ledger = &ledger};
	FILE *out = argc == 2 ? fopen(argv[1], "wb") : NULL;
	struct jitbpf_counters *counters;

	require(out && !recorder_create(out, &info, &w->recorder) &&
		!string_pool_create(&w->strings) && !frame_table_create(w->strings, &w->frames));
	put_python(w);
	put_php(w);
	put_new_python(w);
	put_names(w);
	counters = make(JITBPF_COUNTERS, sizeof(*counters) + JITBPF_COUNTER_MAX * sizeof(__u64));
	counters->h.time_ns = START_NS + w->samples * PERIOD_NS;
	counters->values[JITBPF_COUNT_SAMPLES_TAKEN] = w->samples;
	put(w, counters);
	require(!recorder_end_round(w->recorder, START_NS + (w->samples + 1) * PERIOD_NS));
	view.strings = w->strings;
	view.frames = w->frames;
	view.locations = &w->locations;
	view.modules = &w->modules;
	require(!recorder_finish(w->recorder, &view, &w->modules) && !fclose(out));
	recorder_destroy(w->recorder);
	location_table_deinit(&w->locations);
	frame_table_destroy(w->frames);
	string_pool_destroy(w->strings);
	module_table_deinit(&w->modules);
	return 0;
}
