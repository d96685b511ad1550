/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_lives.h"
#include "tests/unit/sink/page_reader.h"

#include "base/scope.h"
#include "sink/format/page_data.h"
#include "sink/format/page_lives.h"
#include "sink/timeline/life_search.h"
#include "sink/write/json.h"
#include "state/code/code_region.h"
#include "symbolize/name/method_name.h"
#include "tests/unit/cases.h"

struct fixture {
	struct made_lives m;
	struct page_data page;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	made_lives_init(&f->m);
	assert_int_equal(page_data_init(&f->page), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	made_lives_deinit(&f->m);
	page_data_deinit(&f->page);
	free(f);
	return 0;
}

/* Returns the data of the page. The caller frees it. */
static char *data_of(struct fixture *f, uint64_t max_bytes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	assert_int_equal(page_lives_take(&f->page, &f->m.made.view, &f->m.lives, max_bytes), 0);
	json_begin(&json, '{');
	assert_int_equal(page_lives_write(&f->page.lives, &json), 0);
	json_end(&json, '}');
	fclose(out);
	return text;
}

static const char *string_at(struct fixture *f, uint32_t number)
{
	return string_pool_get(f->page.strings, number);
}

CASE_WITH(a_view_without_lives_has_no_table, setup, teardown)
{
	AUTO_FREE char *data = data_of(*state, PAGE_LIVES_BYTES_MAX);

	assert_string_equal(data, "{}");
}

CASE_WITH(sampled_lives_come_first_then_large_ones, setup, teardown)
{
	struct fixture *f = *state;

	made_life(&f->m, 1, MADE_START_NS + 10, 16, "small");
	made_life_take(&f->m, MADE_START_NS + 25, true);
	made_life(&f->m, 2, 0, 64, "large");
	made_life(&f->m, 3, MADE_START_NS + 5, 8, "hot");
	made_life_sample(&f->m, 7, "Engine::hot", "eng");
	AUTO_FREE char *data = data_of(f, PAGE_LIVES_BYTES_MAX);

	page_expect(data, "lives", "bytes", "8 64 16");
	page_expect(data, "lives", "samples", "7 0 0");
	page_expect(data, "lives", "loaded", "6 0 11");
	page_expect(data, "lives", "ended", "0 0 26");
	page_expect(data, "lives", "pid", "100 100 100");
	assert_non_null(strstr(data, "\"left_lives\":0,\"left_bytes\":0,\"forgotten_lives\":0,"));
	const struct page_life *lives = f->page.lives.lives.data;
	assert_string_equal(string_at(f, lives[0].name), "Engine::hot");
	assert_string_equal(string_at(f, lives[0].module), "eng");
	assert_string_equal(string_at(f, lives[1].name), "large");
	assert_string_equal(string_at(f, lives[1].module), "[jit]");
	assert_string_equal(string_at(f, lives[1].comm), "engine");
}

/* A page of this size, with names in it, has no room for more. */
CASE_WITH(what_has_no_room_is_counted, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t max_bytes = 20000, kept_bytes = 0, all_bytes = 0;
	char name[32];

	for (uint32_t i = 1; i <= 2000; i++) {
		snprintf(name, sizeof(name), "method \"%u\"", i);
		made_life(&f->m, i, MADE_START_NS + i, i, name);
		all_bytes += i;
	}
	f->m.lives.forgotten = (struct code_left_out){.lives = 3, .bytes = 99};
	AUTO_FREE char *data = data_of(f, max_bytes);
	const struct page_lives *lives = &f->page.lives;
	size_t strings = 0, kept = lives->lives.size;

	assert_true(kept > 100 && kept < 2000);
	vec_for_each (life, &lives->lives) {
		kept_bytes += life->bytes;
		strings += strlen(string_at(f, life->name));
	}
	assert_int_equal(lives->left_out.lives, 2000 - kept);
	assert_int_equal(lives->left_out.bytes, all_bytes - kept_bytes);
	assert_int_equal(lives->lives.data[0].bytes, 2000);
	assert_int_equal(lives->lives.data[kept - 1].bytes, 2001 - kept);
	/* Quotes take more bytes than that. */
	assert_true(strlen(data) + strings < max_bytes);
	assert_true(strlen(data) + strings > max_bytes / 2);
	assert_non_null(strstr(data, "\"forgotten_lives\":3,\"forgotten_bytes\":99"));
}

/* Only names of samples are in the page anyway. */
CASE_WITH(long_names_are_cut, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE char *name = malloc(METHOD_NAME_PART_MAX);

	memset(name, 'x', METHOD_NAME_PART_MAX - 1);
	name[METHOD_NAME_PART_MAX - 1] = 0;
	memcpy(name + PAGE_LIVES_NAME_MAX - 1, "\u00e9", 2); /* across the limit */
	made_life(&f->m, 1, MADE_START_NS, 16, name);
	AUTO_FREE char *data = data_of(f, PAGE_LIVES_BYTES_MAX);
	const char *kept = string_at(f, f->page.lives.lives.data[0].name);

	assert_int_equal(strlen(kept), PAGE_LIVES_NAME_MAX - 1);
	assert_int_equal(kept[PAGE_LIVES_NAME_MAX - 2], 'x');
}

CASE_WITH(a_method_without_a_name_is_unknown, setup, teardown)
{
	struct fixture *f = *state;

	made_life(&f->m, 1, MADE_START_NS, 16, "");
	AUTO_FREE char *data = data_of(f, PAGE_LIVES_BYTES_MAX);

	assert_string_equal(string_at(f, f->page.lives.lives.data[0].name), "[unknown]");
}

/* --- answers to live pages ----------------------------------------------------------------- */

/* Returns the answer to a request for all of the time. The caller frees it. */
static char *answer_of(struct fixture *f)
{
	const struct lives_wanted all = {.to_ns = UINT64_MAX};
	const struct view *view = &f->m.made.view;
	CLEANUP(life_search_deinit) struct life_search search = {0};
	CLEANUP(life_list_deinit) struct life_list list = {0};
	int state = life_search_begin(&search, view, &all);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	while (!state && (state = life_search_step(&search, view, &f->m.lives, 100)) > 0)
		state = 0;
	assert_int_equal(life_search_result(&search, view, &f->m.lives, &list), 0);
	assert_int_equal(lives_answer_write(&list, &view->options, &json), 0);
	fclose(out);
	return text;
}

CASE_WITH(an_answer_has_strings_and_numbers, setup, teardown)
{
	struct fixture *f = *state;

	made_life(&f->m, 1, MADE_START_NS + 10, 16, "_ZN3foo3barEv");
	made_life_take(&f->m, MADE_START_NS + 25, true);
	made_life(&f->m, 2, MADE_START_NS, 64, "");
	made_life(&f->m, 3, MADE_START_NS + 5, 8, "hot");
	made_life_sample(&f->m, 7, "Engine::hot", "eng");
	AUTO_FREE char *data = answer_of(f);

	assert_memory_equal(data, "{\"total\":7,\"strings\":[\"\",", 25);
	assert_non_null(strstr(data, "\"engine\",\"Engine::hot\",\"eng\","));
	assert_non_null(strstr(data, "\"foo::bar()\""));
	assert_non_null(strstr(data, "\"[unknown]\",\"[jit]\""));
	page_expect(data, "lives", "number", "3 2 1");
	page_expect(data, "lives", "samples", "7 0 0");
	page_expect(data, "lives", "loaded", "6 1 11");
	page_expect(data, "lives", "ended", "0 0 26");
}

/* Whatever the names are, an answer is not much longer than LIVES_ANSWER_BYTES. */
CASE_WITH(an_answer_is_bounded, setup, teardown)
{
	struct fixture *f = *state;
	char name[METHOD_NAME_PART_MAX];
	uint64_t rows, left;

	for (uint32_t i = 1; i <= 2000; i++) {
		memset(name, '\x01', 3000);
		snprintf(name + 3000, sizeof(name) - 3000, "%u", i);
		name[i % 1000] = (char)('a' + i / 1000);
		made_life(&f->m, i, MADE_START_NS + i, 16, name);
	}
	AUTO_FREE char *data = answer_of(f);

	assert_true(strlen(data) > LIVES_ANSWER_BYTES / 2);
	assert_true(strlen(data) < LIVES_ANSWER_BYTES + 6 * METHOD_NAME_PART_MAX + 1000);
	rows = strtoull(strstr(data, "\"rows\":") + 7, NULL, 10);
	left = strtoull(page_member(data, "lives", "left_lives"), NULL, 10);
	assert_true(rows > 10 && left > 10);
	assert_int_equal(rows + left, 2000);
}
