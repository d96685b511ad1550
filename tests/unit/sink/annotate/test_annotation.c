/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "sink/annotate/annotation_output.h"
#include "tests/unit/cases.h"
#include "tests/unit/sink/made_view.h"

#define START  0x100 /* file offset of the function */
#define SYMBOL 0x10  /* symbol_offset of made_frame() */

/* push %rbp; add $0x10, %rax; data that looks like the beginning of a long one; inc %eax; ret */
static const uint8_t code[] = {0x55, 0x48, 0x83, 0xc0, 0x10, 0x48, 0xb8, 0xff, 0xc0, 0xc3};

struct fixture {
	struct made_view made;
	uint8_t file[START + sizeof(code)];
	int error; /* of open_module() */
	struct file_source files;
	struct function_samples samples;
	function_list list;
	uint32_t module;
};

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	struct fixture *f = context;

	if (!f->error)
		*ret = blob_of_memory(f->file, sizeof(f->file));
	return f->error;
}

/* Add samples at an offset of the function "hot", called by `caller` (a location). */
static uint32_t add_place(struct fixture *f, uint64_t offset, const char *name, uint32_t line)
{
	uint32_t location = made_location(&f->made, LOCATION_NATIVE, f->module, START + offset);
	struct frame frame = made_frame(&f->made, FRAME_KIND_NATIVE, name, "/bin/prog");

	frame.symbol_offset = offset;
	frame.file = made_string(&f->made, "/src/prog.c");
	frame.line = line;
	assert_int_equal(frame_table_set(f->made.frames, location, &frame, 1), 0);
	return location;
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
	uint32_t kernel, a, b, c, other;

	mapping.fixed.h.size_bytes = sizeof(mapping);
	made_init(&f->made);
	assert_int_equal(
		module_table_add(&f->made.modules, &mapping.fixed, (struct owner_key){0}, &module),
		0);
	f->module = module->number;
	memcpy(f->file + START, code, sizeof(code));
	f->files = (struct file_source){.open_module = open_module, .context = f};
	a = add_place(f, 1, "hot", 10);
	b = add_place(f, 7, "hot", 12);
	c = add_place(f, 9, "hot", 12);
	other = add_place(f, 0x40, "ns::warm(int)", 3);
	kernel = made_named(&f->made, LOCATION_KERNEL, 0xffffffff81000010, "read_it", "[k]");
	made_stack(&f->made, 0, "prog", 5, STACK(a, other));
	made_stack(&f->made, 0, "prog", 20, STACK(b, other));
	made_stack(&f->made, 0, "prog", 1, STACK(c, other));
	made_stack(&f->made, 0, "prog", 3, STACK(other));
	made_stack(&f->made, 0, "prog", 4, STACK(kernel, b, other));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	function_samples_deinit(&f->samples);
	vec_deinit(&f->list);
	made_deinit(&f->made);
	free(f);
	return 0;
}

static const struct sampled_function *find(struct fixture *f, const char *name)
{
	f->list.size = 0;
	function_samples_deinit(&f->samples);
	assert_int_equal(function_samples_init(&f->samples, &f->made.view), 0);
	assert_int_equal(function_samples_find(&f->samples, name, NULL, &f->list), 0);
	return f->list.size ? &f->samples.functions.data[f->list.data[0]] : NULL;
}

static void annotate(struct fixture *f, const struct sampled_function *function,
		     struct annotation *ret)
{
	const struct annotation_sources sources = {
		.view = &f->made.view, .samples = &f->samples, .files = &f->files};

	assert_int_equal(annotation_init(ret, &sources, function), 0);
}

static uint64_t sum_of(const struct annotation *annotation)
{
	uint64_t sum = 0;

	vec_for_each (instruction, &annotation->instructions)
		sum += instruction->samples;
	return sum;
}

/* All code of a function is found by its name, and one piece by that of the piece. */
CASE_WITH(pieces_of_a_function_are_found, setup, teardown)
{
	struct fixture *f = *state;

	made_stack(&f->made, 0, "prog", 2, STACK(add_place(f, 0x80, "hot.cold", 1)));
	assert_int_equal(find(f, "hot")->samples, 26);
	assert_int_equal(f->list.size, 1);
	assert_int_equal(function_samples_add_pieces(&f->samples, "hot", &f->list), 0);
	assert_int_equal(f->list.size, 2);
	assert_string_equal(f->samples.functions.data[f->list.data[1]].name, "hot.cold");
	assert_int_equal(f->samples.functions.data[f->list.data[1]].tier, CODE_TIER_COLD);
	find(f, "hot.cold");
	assert_int_equal(function_samples_add_pieces(&f->samples, "hot.cold", &f->list), 0);
	assert_int_equal(f->list.size, 1);
	assert_null(find(f, "nothing"));
	assert_int_equal(function_samples_add_pieces(&f->samples, "nothing", &f->list), 0);
	assert_int_equal(f->list.size, 0);
}

CASE_WITH(test_names, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(name_match_of("hot", "hot", "hot"), NAME_EQUAL);
	assert_int_equal(name_match_of("ns::warm(int)", "ns::warm(int)", "warm"), NAME_PART);
	assert_int_equal(name_match_of("ns::warm(int)", "ns::warm(int)", "ns::warm"), NAME_PART);
	assert_int_equal(name_match_of("(anonymous namespace)::f(int)",
				       "(anonymous namespace)::f(int)", "f"),
			 NAME_PART);
	assert_int_equal(
		name_match_of("A::operator()(int) const", "A::operator()(int) const", "operator()"),
		NAME_PART);
	assert_int_equal(name_match_of("Fill.main", "Fill.main", "main"), NAME_PART);
	assert_int_equal(name_match_of("hot_loop", "hot_loop", "hot"), NAME_WITHIN);
	assert_int_equal(name_match_of("cold", "cold", "hot"), NAME_OTHER);
	assert_int_equal(name_match_of("hot.cold", "hot", "hot"), NAME_FUNCTION);
	assert_int_equal(name_match_of("hot", "hot", "hot.cold"), NAME_OTHER);
	assert_null(find(f, "nothing"));
	assert_string_equal(find(f, "warm")->name, "ns::warm(int)");
	assert_int_equal(find(f, "hot")->samples, 26);
	assert_int_equal(f->samples.total, 33);
}

/* Tables have names of functions, "lukewarm"; a whole name comes first. */
CASE_WITH(code_is_found_by_its_function, setup, teardown)
{
	struct fixture *f = *state;

	made_stack(&f->made, 0, "p", 3, STACK(add_place(f, 70, "lukewarm.part.0", 7)));
	assert_string_equal(find(f, "lukewarm")->name, "lukewarm.part.0");
	made_stack(&f->made, 0, "p", 1, STACK(add_place(f, 71, "lukewarm", 7)));
	assert_string_equal(find(f, "lukewarm")->name, "lukewarm");
	assert_int_equal(f->list.size, 1);
}

CASE_WITH(test_hidden_kernel, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(find(f, "read_it")->samples, 4);
	f->made.view.options.kernel = VIEW_KERNEL_HIDDEN;
	assert_int_equal(find(f, "hot")->samples, 30);
	assert_null(find(f, "read_it"));
}

/* An instruction begins at each sampled offset, also behind data. */
CASE_WITH(test_instructions, setup, teardown)
{
	static const struct {
		uint64_t offset, samples;
		const char *text;
	} expected[] = {{0, 0, "push %rbp"},  {1, 5, "add $0x10, %rax"}, {5, 0, ".byte 0x48"},
			{6, 0, ".byte 0xb8"}, {7, 20, "inc %eax"},	 {9, 1, "ret"}};
	struct fixture *f = *state;
	struct annotation annotation;
	annotated_lines lines = {0};

	annotate(f, find(f, "hot"), &annotation);
	assert_int_equal(annotation.lack, CODE_IS_CUT); /* the end of the file, of an unsized one */
	assert_int_equal(annotation.instructions.size, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct annotated_instruction *now = &annotation.instructions.data[i];

		assert_int_equal(now->offset, expected[i].offset);
		assert_int_equal(now->samples, expected[i].samples);
		assert_string_equal(string_pool_get(annotation.strings, now->text),
				    expected[i].text);
	}
	assert_int_equal(sum_of(&annotation), 26);
	assert_int_equal(annotation_hottest(&annotation), 4);
	assert_int_equal(annotation_lines(&annotation, &lines), 0);
	assert_int_equal(lines.size, 3); /* without a line, 10 and 12 */
	assert_int_equal(lines.data[1].line, 10);
	assert_int_equal(lines.data[1].samples, 5);
	assert_int_equal(lines.data[2].samples, 21);
	vec_deinit(&lines);
	annotation_deinit(&annotation);
}

/* Without the file, the samples are there, and the reason. */
CASE_WITH(test_file_changed, setup, teardown)
{
	struct fixture *f = *state;
	struct annotation annotation;

	f->error = -ESTALE;
	annotate(f, find(f, "hot"), &annotation);
	assert_int_equal(annotation.lack, CODE_FILE_CHANGED);
	assert_int_equal(annotation.instructions.size, 3);
	assert_int_equal(annotation.instructions.data[0].text, 0);
	assert_int_equal(sum_of(&annotation), 26);
	annotation_deinit(&annotation);
	f->error = -EACCES;
	annotate(f, find(f, "hot"), &annotation);
	assert_int_equal(annotation.lack, CODE_FILE_MISSING);
	annotation_deinit(&annotation);
	annotate(f, find(f, "read_it"), &annotation);
	assert_int_equal(annotation.lack, CODE_OF_KERNEL);
	annotation_deinit(&annotation);
}

static const char *nasty_line(void *context, const char *path, uint32_t line, size_t *ret_bytes)
{
	static const char text[] = "\tx = \x1b[31m\xe2\x80\xae<b>\x07\r";

	*ret_bytes = sizeof(text) - 1;
	return text;
}

static int write_json(FILE *out, const struct annotation *annotation,
		      const struct annotation_output *output)
{
	struct json json = json_of(out, false);
	int err;

	annotation_json_begin(&json, output);
	err = annotation_json_piece(&json, annotation, output);
	return err ?: annotation_json_end(&json, out);
}

/* Neither names nor source lines can control a terminal. */
CASE_WITH(test_nasty_text, setup, teardown)
{
	struct fixture *f = *state;
	const struct source_lines lines = {.line = nasty_line};
	struct annotation annotation;
	struct annotation_output output = {.view = &f->made.view, .total = 33, .sources = &lines};
	struct generation generation = {0};
	uint32_t location = add_place(f, 5, "bad\x1b[2J\xe2\x80\xae", 99);
	char *text = NULL;
	size_t size;
	FILE *out;

	made_stack(&f->made, 0, "prog", 50, STACK(location));
	generation.function = find(f, "bad");
	assert_non_null(generation.function);
	output.generations = &generation;
	output.generation_count = 1;
	annotate(f, generation.function, &annotation);
	for (int json = 0; json < 2; json++) {
		out = open_memstream(&text, &size);
		assert_int_equal(json ? write_json(out, &annotation, &output)
				      : annotation_write_text(out, &annotation, &output),
				 0);
		fclose(out);
		assert_null(memchr(text, 0x1b, size));
		assert_null(memchr(text, 7, size));
		assert_null(strstr(text, "\xe2\x80\xae"));
		if (!json)
			assert_non_null(strstr(text, "x = ?[31m?<b>?"));
		free(text);
	}
	annotation_deinit(&annotation);
}
