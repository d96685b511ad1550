/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "sink/annotate/annotation_page.h"
#include "sink/annotate/page_code.h"
#include "tests/unit/cases.h"
#include "tests/unit/sink/json_check.h"
#include "tests/unit/sink/made_view.h"

#define START 0x100 /* file offset of the first function */
#define GAP   0x100 /* to the next one */

struct fixture {
	struct made_view made;
	uint8_t *file;
	size_t file_bytes;
	uint32_t module;
	uint32_t asked; /* lines of the source file */
	struct page_code code;
	struct source_lines lines;
};

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	const struct fixture *f = context;

	*ret = blob_of_memory(f->file, f->file_bytes);
	return 0;
}

static const char *line_of(void *context, const char *path, uint32_t line, size_t *ret_bytes)
{
	static const char text[] = "x = </script><b>\x1b\xe2\x80\xae\xff";
	struct fixture *f = context;

	if (strcmp(path, "/src/prog.c") != 0 || line > 20)
		return NULL;
	f->asked++;
	*ret_bytes = sizeof(text) - 1;
	return text;
}

static const char *trouble_of(void *context, const char *path)
{
	return strcmp(path, "/src/prog.c") != 0 ? "it is not a regular file" : NULL;
}

static void set_file(struct fixture *f, size_t size_bytes)
{
	free(f->file);
	f->file = malloc(size_bytes);
	f->file_bytes = size_bytes;
	memset(f->file, 0x90, size_bytes); /* nop */
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct {
		struct jitbpf_mapping fixed;
		char path[16];
	} mapping = {.fixed = {.address = 0x1000, .size_bytes = 0x1000, .inode = 7},
		     .path = "/bin/prog"};
	const struct module *module;

	mapping.fixed.h.size_bytes = sizeof(mapping);
	made_init(&f->made);
	assert_int_equal(
		module_table_add(&f->made.modules, &mapping.fixed, (struct owner_key){0}, &module),
		0);
	f->module = module->number;
	set_file(f, START + 0x40);
	f->code.files = (struct file_source){.open_module = open_module, .context = f};
	f->lines = (struct source_lines){.line = line_of, .trouble = trouble_of, .context = f};
	f->code.sources = &f->lines;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	made_deinit(&f->made);
	free(f->file);
	free(f);
	return 0;
}

/* Add samples at an offset of a function, which has a start of its own. */
static void add(struct fixture *f, uint32_t number, uint64_t offset, const char *name,
		const char *file, uint32_t line, uint64_t samples)
{
	uint64_t start = START + (uint64_t)number * GAP;
	uint32_t location = made_location(&f->made, LOCATION_NATIVE, f->module, start + offset);
	struct frame frame = made_frame(&f->made, FRAME_KIND_NATIVE, name, "/bin/prog");

	frame.symbol_offset = offset;
	frame.file = made_string(&f->made, file);
	frame.line = line;
	assert_int_equal(frame_table_set(f->made.frames, location, &frame, 1), 0);
	made_stack(&f->made, 0, "prog", samples, STACK(location));
}

/* Returns the member as an object, which is one line of valid JSON. */
static char *written(struct fixture *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	json_begin(&json, '{');
	assert_int_equal(page_code_write(&f->code, &f->made.view, &json), 0);
	json_end(&json, '}');
	fclose(out);
	json_check(text);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part))) {
		count++;
		text++;
	}
	return count;
}

CASE_WITH(a_function_has_instructions_and_lines, setup, teardown)
{
	struct fixture *f = *state;

	add(f, 0, 2, "hot", "/src/prog.c", 10, 5);
	add(f, 0, 3, "hot", "/dev/fifo", 7, 2);
	AUTO_FREE char *text = written(f);
	assert_non_null(strstr(text, "\"total\":7,\"left_out\":0,"));
	assert_non_null(strstr(text,
			       "\"name\":\"hot\",\"module\":\"/bin/prog\",\"kind\":\"native\","
			       "\"samples\":7,\"more\":0"));
	/* Offset, samples, length, text, frames, no target, bytes. */
	assert_non_null(strstr(text, "[2,5,1,"));
	assert_non_null(strstr(text, ",1,-1,\"90\"],[3,2,1,"));
	assert_non_null(strstr(text, "\"skipped\":0,\"unshown\":0"));
	/* Line 10, and three on both sides. */
	assert_int_equal(f->asked, 7);
	assert_int_equal(count_of(text, "x = \\u003c/script"), 7);
	assert_non_null(strstr(text, "\"it is not a regular file\"]]"));
	assert_null(strchr(text, 0x1b));
	assert_null(strchr(text, '<'));
}

CASE_WITH(source_text_needs_to_be_asked_for, setup, teardown)
{
	struct fixture *f = *state;

	f->code.sources = NULL;
	add(f, 0, 2, "hot", "/src/prog.c", 10, 5);
	AUTO_FREE char *text = written(f);
	assert_int_equal(f->asked, 0);
	assert_null(strstr(text, "\"lines\""));
	assert_non_null(strstr(text, "[2,5,1,"));
}

/* Of a large function, what is near samples is kept; all samples are there. */
CASE_WITH(a_large_function_is_cut, setup, teardown)
{
	struct fixture *f = *state;

	set_file(f, START + 3 * PAGE_INSTRUCTIONS_MAX);
	add(f, 0, 100, "hot", "/src/prog.c", 10, 5);
	add(f, 0, 2 * PAGE_INSTRUCTIONS_MAX, "hot", "/src/prog.c", 12, 6);
	AUTO_FREE char *text = written(f);
	assert_non_null(strstr(text, "[100,5,1,"));
	assert_non_null(strstr(text, "[84,0,1,"));
	assert_null(strstr(text, "[83,0,1,"));
	assert_non_null(strstr(text, "[116,0,1,"));
	assert_null(strstr(text, "[117,0,1,"));
	assert_non_null(strstr(text, "[8000,6,1,"));
	assert_int_equal(count_of(text, "\"90\"]"), 2 * 33);
	assert_non_null(strstr(text, "\"unshown\":0"));
}

/* Samples at more instructions than are kept are counted. */
CASE_WITH(samples_that_are_not_shown_are_counted, setup, teardown)
{
	struct fixture *f = *state;

	set_file(f, START + 2 * PAGE_INSTRUCTIONS_MAX);
	for (uint32_t i = 0; i < PAGE_INSTRUCTIONS_MAX + 50; i++)
		add(f, 0, i, "hot", "/src/prog.c", 10, 2);
	AUTO_FREE char *text = written(f);
	assert_int_equal(count_of(text, "\"90\"]"), PAGE_INSTRUCTIONS_MAX);
	assert_non_null(strstr(text, "\"unshown\":100"));
}

CASE_WITH(the_functions_with_most_samples_come_first, setup, teardown)
{
	struct fixture *f = *state;
	char name[16];

	set_file(f, START + (PAGE_CODE_FUNCTIONS_MAX + 5) * GAP);
	for (uint32_t i = 0; i < PAGE_CODE_FUNCTIONS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "f%u_", i);
		add(f, i, 1, name, "", 0, 1 + i);
	}
	AUTO_FREE char *text = written(f);
	assert_non_null(strstr(text, "\"left_out\":5,"));
	assert_non_null(strstr(text, "\"list\":[{\"name\":\"f104_\""));
	assert_null(strstr(text, "\"name\":\"f4_\""));
	assert_non_null(strstr(text, "\"name\":\"f5_\""));
}

/* Beyond the limit of bytes, functions have their samples, but no code. */
CASE_WITH(the_page_has_a_limit, setup, teardown)
{
	struct fixture *f = *state;
	char name[16];

	set_file(f, START + PAGE_CODE_FUNCTIONS_MAX * GAP + PAGE_INSTRUCTIONS_MAX);
	for (uint32_t i = 0; i < PAGE_CODE_FUNCTIONS_MAX; i++) {
		snprintf(name, sizeof(name), "f%u_", i);
		add(f, i, 1, name, "", 0, 1 + i);
		add(f, i, PAGE_INSTRUCTIONS_MAX - 40, name, "", 0, 1);
	}
	AUTO_FREE char *text = written(f);
	assert_true(strlen(text) < PAGE_CODE_BYTES_MAX + (1u << 20));
	assert_true(strlen(text) > PAGE_CODE_BYTES_MAX / 2);
	assert_int_equal(count_of(text, "\"generations\":"), PAGE_CODE_FUNCTIONS_MAX);
	assert_in_range(count_of(text, "\"code\":"), 10, PAGE_CODE_FUNCTIONS_MAX - 1);
}
