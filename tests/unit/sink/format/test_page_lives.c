/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/page_reader.h"

#include "base/scope.h"
#include "sink/format/page_data.h"
#include "sink/format/page_lives.h"
#include "state/code/code_region.h"
#include "symbolize/name/method_name.h"

#define START_NS 1000000000 /* of made_view */

struct fixture {
	struct made_view made;
	struct code_lives lives;
	struct page_data page;
	struct code_claim claim;
	struct code_record record; /* of the last load */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	made_init(&f->made);
	assert_int_equal(code_lives_init(&f->lives, CODE_LIVES_MAX), 0);
	assert_int_equal(page_data_init(&f->page), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	made_deinit(&f->made);
	code_lives_deinit(&f->lives);
	page_data_deinit(&f->page);
	free(f);
	return 0;
}

static void take(struct fixture *f, uint64_t time_ns, bool ended)
{
	code_lives_take(&f->lives, &(struct sink_region){.time_ns = time_ns,
							 .region = &f->record.region,
							 .ended = ended,
							 .process = 1,
							 .pid = 100,
							 .comm = "engine"});
}

static void load(struct fixture *f, uint64_t identity, uint64_t time_ns, uint64_t size_bytes,
		 const char *name)
{
	f->claim = (struct code_claim){.time_ns = time_ns, .before_run = !time_ns};
	f->record = (struct code_record){
		.identity = identity,
		.region = {.value.refs = 1, /* it is not on the heap: never the last one */
			   .address = 0x5000,
			   .size_bytes = size_bytes,
			   .claims = &f->claim,
			   .claim_count = 1,
			   .name = name,
			   .class_name = "",
			   .module = ""},
	};
	take(f, time_ns, false);
}

/* Count samples in the code that was loaded last; its frame has the name. */
static void sample(struct fixture *f, uint64_t count, const char *name, const char *module)
{
	struct location location = {.kind = LOCATION_JIT,
				    .owner = f->record.identity,
				    .offset = 4,
				    .code = &f->record.region.value};
	struct frame frame = made_frame(&f->made, FRAME_KIND_JIT, name, module);
	uint32_t number;

	assert_int_equal(location_table_add(&f->made.locations, &location, &number), 0);
	assert_int_equal(frame_table_set(f->made.frames, number, &frame, 1), 0);
	made_stack(&f->made, 1, "engine", count, STACK(number));
}

/* Returns the data of the page. The caller frees it. */
static char *data_of(struct fixture *f, uint64_t max_bytes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	assert_int_equal(page_lives_take(&f->page, &f->made.view, &f->lives, max_bytes), 0);
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

static void a_view_without_lives_has_no_table(void **state)
{
	AUTO_FREE char *data = data_of(*state, PAGE_LIVES_BYTES_MAX);

	assert_string_equal(data, "{}");
}

static void sampled_lives_come_first_then_large_ones(void **state)
{
	struct fixture *f = *state;

	load(f, 1, START_NS + 10, 16, "small");
	take(f, START_NS + 25, true);
	load(f, 2, 0, 64, "large");
	load(f, 3, START_NS + 5, 8, "hot");
	sample(f, 7, "Engine::hot", "eng");
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
static void what_has_no_room_is_counted(void **state)
{
	struct fixture *f = *state;
	uint64_t max_bytes = 20000, kept_bytes = 0, all_bytes = 0;
	char name[32];

	for (uint32_t i = 1; i <= 2000; i++) {
		snprintf(name, sizeof(name), "method \"%u\"", i);
		load(f, i, START_NS + i, i, name);
		all_bytes += i;
	}
	f->lives.forgotten = (struct code_left_out){.lives = 3, .bytes = 99};
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
static void long_names_are_cut(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *name = malloc(METHOD_NAME_PART_MAX);

	memset(name, 'x', METHOD_NAME_PART_MAX - 1);
	name[METHOD_NAME_PART_MAX - 1] = 0;
	memcpy(name + PAGE_LIVES_NAME_MAX - 1, "\u00e9", 2); /* across the limit */
	load(f, 1, START_NS, 16, name);
	AUTO_FREE char *data = data_of(f, PAGE_LIVES_BYTES_MAX);
	const char *kept = string_at(f, f->page.lives.lives.data[0].name);

	assert_int_equal(strlen(kept), PAGE_LIVES_NAME_MAX - 1);
	assert_int_equal(kept[PAGE_LIVES_NAME_MAX - 2], 'x');
}

static void a_method_without_a_name_is_unknown(void **state)
{
	struct fixture *f = *state;

	load(f, 1, START_NS, 16, "");
	AUTO_FREE char *data = data_of(f, PAGE_LIVES_BYTES_MAX);

	assert_string_equal(string_at(f, f->page.lives.lives.data[0].name), "[unknown]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_view_without_lives_has_no_table, setup, teardown),
		cmocka_unit_test_setup_teardown(sampled_lives_come_first_then_large_ones, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_has_no_room_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(long_names_are_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(a_method_without_a_name_is_unknown, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
