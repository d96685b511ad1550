/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Source lines of functions of runtimes, with samples of their own, and those of what they call. */
#include <stdint.h>

#include <errno.h>

#include "base/scope.h"
#include "sink/annotate/annotation_page.h"
#include "sink/annotate/function_search.h"
#include "sink/annotate/page_code.h"
#include "state/code/code_region.h"
#include "tests/unit/cases.h"
#include "tests/unit/sink/json_check.h"
#include "tests/unit/sink/made_view.h"

struct fixture {
	struct made_view m;
	uint32_t loop;		   /* the interpreter's own code */
	uint32_t run10, run11;	   /* lines of "Search.run" of a.py */
	uint32_t compiled;	   /* the same function, compiled, at line 11 */
	uint32_t other;		   /* a function of that name of b.py */
	uint32_t main_, jit, sort; /* a caller; JIT code that serves; a C function */
	struct code_claim claim;
	struct code_record code;
};

static uint32_t line_of(struct made_view *m, uint64_t number, const char *name, const char *file,
			uint32_t line, bool compiled)
{
	uint32_t location = made_location(m, LOCATION_RUNTIME, number,
					  line | (compiled ? JITBPF_POSITION_COMPILED : 0));
	struct frame frame = made_frame(m, FRAME_KIND_PHP, name, "[php]");

	frame.symbol_offset = 0;
	frame.file = made_string(m, file);
	frame.line = line;
	frame.flags = compiled ? FRAME_COMPILED : 0;
	assert_int_equal(frame_table_set(m->frames, location, &frame, 1), 0);
	return location;
}

/* Code that serves the frames of a runtime. */
static uint32_t serving(struct made_view *m, enum location_kind kind, const char *name,
			struct code_region *region)
{
	struct location location = {.kind = kind,
				    .is_interpreter = true,
				    .owner = 7,
				    .offset = 0x20,
				    .code = region ? &region->value : NULL};
	struct frame frame =
		made_frame(m, region ? FRAME_KIND_JIT : FRAME_KIND_NATIVE, name, "/bin/php");
	uint32_t number;

	assert_int_equal(location_table_add(&m->locations, &location, &number), 0);
	assert_int_equal(frame_table_set(m->frames, number, &frame, 1), 0);
	return number;
}

static void fixture_init(struct fixture *f)
{
	struct made_view *m = &f->m;

	*f = (struct fixture){.code = {.region = {.value = {.refs = 1},
						  .number = 6,
						  .address = 0x1000,
						  .size_bytes = 64,
						  .name = "JIT$Search.run\0\0\0"}}};
	f->code.region.claims = &f->claim;
	made_init(m);
	f->loop = serving(m, LOCATION_NATIVE, "execute_ex", NULL);
	f->jit = serving(m, LOCATION_JIT, "JIT$Search.run", &f->code.region);
	f->run10 = line_of(m, 1, "Search.run", "/a.py", 10, false);
	f->run11 = line_of(m, 1, "Search.run", "/a.py", 11, false);
	f->compiled = line_of(m, 1, "Search.run", "/a.py", 11, true);
	f->other = line_of(m, 2, "Search.run", "/b.py", 10, false);
	f->main_ = line_of(m, 3, "main", "/a.py", 30, false);
	f->sort = made_named(m, LOCATION_NATIVE, 0x900, "list_sort", "/bin/php");
	made_stack(m, 0, "php", 5, STACK(f->loop, f->run10, f->main_));
	/* Line 10 calls line 11, which calls line 10, where the loop runs. */
	made_stack(m, 0, "php", 7, STACK(f->loop, f->run10, f->run11, f->run10, f->main_));
	made_stack(m, 0, "php", 3, STACK(f->sort, f->run11, f->compiled, f->main_));
	made_stack(m, 0, "php", 2, STACK(f->jit, f->compiled, f->main_));
	made_stack(m, 0, "php", 1, STACK(f->loop, f->other, f->main_));
}

static void fixture_deinit(struct fixture *f)
{
	made_deinit(&f->m);
}

static void check_run(const struct function_samples *samples, const struct sampled_function *run)
{
	const struct place_samples *places = samples->places.data + run->first;

	assert_int_equal(run->samples, 14);
	assert_int_equal(run->total, 17);
	assert_string_equal(run->file, "/a.py");
	assert_int_equal(run->count, 3);
	assert_int_equal(places[0].offset, 10);
	assert_int_equal(places[0].samples, 12);
	assert_int_equal(places[0].total, 12);
	assert_int_equal(places[1].offset, 11);
	assert_int_equal(places[1].total, 12); /* of both kinds of line 11 */
	assert_int_equal(places[2].offset, 11);
	assert_int_equal(places[1].samples + places[2].samples, 2);
}

CASE(lines_have_samples_and_totals)
{
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	CLEANUP(fixture_deinit) struct fixture f;
	function_list list = {0};

	fixture_init(&f);
	assert_int_equal(function_samples_init(&samples, &f.m.view), 0);
	assert_int_equal(function_samples_find(&samples, "Search.run", "/a", &list), 0);
	assert_int_equal(list.size, 1);
	check_run(&samples, &samples.functions.data[list.data[0]]);
	assert_int_equal(function_samples_add_pieces(&samples, "Search.run", &list), 0);
	assert_int_equal(list.size, 2);
	assert_int_equal(samples.functions.data[list.data[1]].kind, LOCATION_JIT);
	assert_int_equal(samples.functions.data[list.data[1]].samples, 2);
	list.size = 0;
	assert_int_equal(function_samples_find(&samples, "Search.run", NULL, &list), 0);
	assert_int_equal(list.size, 2); /* of two files */
	list.size = 0;
	/* Only what it calls has samples. */
	assert_int_equal(function_samples_find(&samples, "main", NULL, &list), 0);
	assert_int_equal(list.size, 1);
	assert_int_equal(samples.functions.data[list.data[0]].samples, 0);
	assert_int_equal(samples.functions.data[list.data[0]].total, 18);
	list.size = 0;
	assert_int_equal(function_samples_find(&samples, "execute_ex", NULL, &list), 0);
	assert_int_equal(samples.functions.data[list.data[0]].samples, 13);
	vec_deinit(&list);
}

/* A live page's search has the same, in steps of any size. */
CASE(a_search_finds_the_same)
{
	for (uint32_t max = 1; max < 40; max += 13) {
		CLEANUP(function_search_deinit) struct function_search search = {0};
		CLEANUP(function_samples_deinit) struct function_samples samples = {0};
		CLEANUP(fixture_deinit) struct fixture f;
		uint32_t lines = 0;
		int more;

		fixture_init(&f);
		assert_int_equal(function_search_begin(&search, &f.m.view, 0, f.run11), 0);
		while ((more = function_search_step(&search, &f.m.view, max)) > 0)
			;
		assert_int_equal(more, 0);
		assert_int_equal(function_search_result(&search, &f.m.view, &samples), 0);
		assert_int_equal(samples.total, 18);
		assert_int_equal(samples.functions.size, 3);
		vec_for_each (function, &samples.functions) {
			if (function->kind == LOCATION_JIT) {
				assert_int_equal(function->samples, 2);
			} else if (!strcmp(function->file, "/a.py")) {
				check_run(&samples, function);
				lines++;
			} else {
				assert_int_equal(function->total, 1);
			}
		}
		assert_int_equal(lines, 1);
	}
}

static const char *line_text(void *context, const char *path, uint32_t line, size_t *ret_bytes)
{
	*ret_bytes = 5;
	return !strcmp(path, "/a.py") && line < 13 ? "x = 1" : NULL;
}

static char *text_of(struct fixture *f, struct annotation *annotation,
		     const struct sampled_function *function, bool page)
{
	const struct source_lines sources = {.line = line_text};
	const struct generation generation = {.function = function};
	const struct annotation_output options = {.view = &f->m.view,
						  .total = 18,
						  .generations = &generation,
						  .generation_count = 1,
						  .sources = &sources};
	char *text = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&text, &size_bytes);
	struct json json = json_of(out, false);

	if (page)
		assert_int_equal(annotation_page_write(&json, annotation, &sources), 0);
	else
		assert_int_equal(annotation_write_text(out, annotation, &options), 0);
	fclose(out);
	return text;
}

CASE(lines_are_written_with_their_source)
{
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	CLEANUP(fixture_deinit) struct fixture f;
	struct annotation annotation = {0};
	struct annotation_sources from;
	function_list list = {0};
	char *text, *page;

	fixture_init(&f);
	assert_int_equal(function_samples_init(&samples, &f.m.view), 0);
	assert_int_equal(function_samples_find(&samples, "Search.run", "/a", &list), 0);
	from = (struct annotation_sources){.view = &f.m.view, .samples = &samples};
	assert_int_equal(annotation_init(&annotation, &from, &samples.functions.data[list.data[0]]),
			 0);
	text = text_of(&f, &annotation, annotation.function, false);
	assert_non_null(strstr(text, "Search.run ([php], /a.py)\n17 samples of 18, 94.44 %, with "
				     "those of what it calls; 14 in itself, 77.78 %"));
	assert_non_null(strstr(text, "        8  x = 1\n"));
	assert_null(strstr(text, "        7  x = 1\n"));
	assert_non_null(strstr(text, " 70.59 %        12   70.59 %        12       10  x = 1\n"
				     " 11.76 %         2   70.59 %        12       11  x = 1\n"
				     "                                             12  x = 1\n"));
	assert_null(strstr(text, "       13"));
	page = text_of(&f, &annotation, annotation.function, true);
	json_check(page);
	assert_non_null(strstr(page, "\"instructions\":[]"));
	assert_non_null(strstr(page, ",10,12,12]"));
	assert_non_null(strstr(page, ",11,2,12]"));
	free(text);
	free(page);
	annotation_deinit(&annotation);
	vec_deinit(&list);
}

CASE(a_page_has_lines_and_the_code_that_ran)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct page_code from = {0};
	char *text = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&text, &size_bytes);
	struct json json = json_of(out, false);
	const char *run;

	fixture_init(&f);
	json_begin(&json, '{');
	assert_int_equal(page_code_write(&from, &f.m.view, &json), 0);
	json_end(&json, '}');
	fclose(out);
	json_check(text);
	run = strstr(text, "\"name\":\"Search.run\",\"module\":\"[php]\",\"kind\":\"PHP\","
			   "\"file\":\"/a.py\",");
	assert_non_null(run);
	assert_non_null(strstr(run, "\"name\":\"/a.py\",\"total\":17"));
	assert_non_null(strstr(run, "\"name\":\"/b.py\",\"total\":1"));
	assert_non_null(strstr(run, "\"name\":\"JIT$Search.run\",\"address\":\"0x1000\""));
	assert_non_null(strstr(text, "\"name\":\"main\",\"module\":\"[php]\""));
	free(text);
}
