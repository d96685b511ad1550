/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/timeline/code_markers.h"
#include "symbolize/name/shown_name.h"
#include "tests/unit/cases.h"

static struct sink_code code_at(uint64_t time_ns, const struct code_region *region)
{
	return (struct sink_code){
		.time_ns = time_ns,
		.method_id = 7,
		.address = 0x1000,
		.size_bytes = 16,
		.gone = !region,
		.region = region,
	};
}

static void add(struct code_markers *markers, uint32_t thread, uint64_t time_ns,
		const struct code_region *region)
{
	const struct sink_code code = code_at(time_ns, region);
	const struct view view = {0};

	assert_int_equal(code_markers_add(markers, &view, thread, &code), 0);
}

static const struct code_region method = {.name = "run", .texts = "App\0App.java\0app"};

CASE(a_thread_has_its_own_in_order)
{
	CLEANUP(code_markers_deinit) struct code_markers markers = {0};
	struct code_thread thread;
	const struct code_marker *first, *second;

	add(&markers, 3, 10, &method);
	add(&markers, 0, 20, &method);
	add(&markers, 3, 30, NULL);
	thread = code_markers_thread(&markers, 3);
	first = &markers.markers.data[thread.first];
	second = &markers.markers.data[first->next];
	assert_int_equal(first->time_ns, 10);
	assert_false(first->gone);
	assert_string_equal(string_pool_get(markers.strings, first->name), "App::run");
	assert_string_equal(string_pool_get(markers.strings, first->module), "app");
	assert_string_equal(string_pool_get(markers.strings, first->source), "App.java");
	assert_int_equal(second->time_ns, 30);
	assert_true(second->gone);
	assert_int_equal(second->name, 0);
	assert_int_equal(second->next, CODE_MARKER_NONE);
	assert_int_equal(code_markers_thread(&markers, 1).first, CODE_MARKER_NONE);
	assert_int_equal(code_markers_thread(&markers, 99).first, CODE_MARKER_NONE);
}

CASE(a_storm_is_counted)
{
	CLEANUP(code_markers_deinit) struct code_markers markers = {0};
	struct code_thread thread;

	for (uint64_t i = 0; i < CODE_MARKERS_MAX + 10; i++)
		add(&markers, i & 1, i, &method);
	assert_int_equal(markers.markers.size, CODE_MARKERS_MAX);
	assert_int_equal(markers.left_out, 10);
	thread = code_markers_thread(&markers, 1);
	assert_int_equal(thread.left_out, 5);
	assert_int_equal(thread.left_from_ns, CODE_MARKERS_MAX + 1);
	assert_int_equal(thread.left_to_ns, CODE_MARKERS_MAX + 9);
}

CASE(names_have_a_budget)
{
	CLEANUP(code_markers_deinit) struct code_markers markers = {0};
	const uint32_t fits = CODE_MARKER_NAMES_MAX / SHOWN_NAME_MAX;
	AUTO_FREE char *name = calloc(1, (1 << 20) + 1);

	assert_non_null(name);
	memset(name, 'x', 1 << 20);
	for (uint32_t i = 0; i < fits + 10; i++) {
		const struct code_region named = {.name = name, .texts = CODE_NO_TEXTS};

		name[i] = 'y'; /* a different name */
		add(&markers, 0, i, &named);
		add(&markers, 0, i, &named); /* the same name needs no memory */
	}
	assert_int_equal(markers.markers.size, 2 * fits - 1);
	assert_int_equal(markers.left_out, 2 * (fits + 10) - markers.markers.size);
}
