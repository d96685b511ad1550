/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/scope.h"
#include "decode/record/scope_table.h"
#include "runtimes/scope_builder.h"
#include "tests/unit/cases.h"

#define BYTES_MAX 65536

static uint32_t add(struct scope_builder *builder, uint32_t caller, uint32_t method,
		    int32_t position, uint32_t line)
{
	uint32_t scope;

	assert_int_equal(scope_builder_add(builder, caller, method, position, line, &scope), 0);
	return scope;
}

CASE(a_table_has_what_was_added)
{
	CLEANUP(scope_builder_deinit) struct scope_builder builder = {0};
	AUTO_FREE void *bytes = NULL;
	struct scope_table table;
	uint32_t outer, inner, first, second;
	size_t size_bytes;
	struct scope scope;

	assert_int_equal(scope_builder_add_method(&builder, "outer", "", &outer), 0);
	assert_int_equal(scope_builder_add_method(&builder, "inner", "Inner.java", &inner), 0);
	first = add(&builder, JITBPF_NO_SCOPE, outer, 3, 10);
	second = add(&builder, first, inner, 0, 20);
	assert_int_equal(add(&builder, first, inner, 7, 20), second); /* the same line */
	assert_int_equal(scope_builder_add_range(&builder, 0, first), 0);
	assert_int_equal(scope_builder_add_range(&builder, 16, second), 0);
	assert_int_equal(scope_builder_add_range(&builder, 24, second), 0);
	assert_int_equal(scope_builder_add_range(&builder, 8, first), 0); /* ignored */
	assert_int_equal(scope_builder_make(&builder, BYTES_MAX, &bytes, &size_bytes), 0);
	assert_int_equal(scope_table_decode(bytes, size_bytes, &table), 0);
	assert_int_equal(table.counts.range_count, 2);
	assert_int_equal(table.counts.scope_count, 2);
	assert_int_equal(scope_table_at(&table, 15), first);
	scope = scope_table_get(&table, scope_table_at(&table, 16));
	assert_string_equal(scope.name, "inner");
	assert_string_equal(scope.source, "Inner.java");
	assert_int_equal(scope.line, 20);
	assert_int_equal(scope.position, 0);
	assert_int_equal(scope.depth, 2);
	assert_int_equal(scope.caller, first);
}

CASE(a_chain_that_is_too_deep_is_refused)
{
	CLEANUP(scope_builder_deinit) struct scope_builder builder = {0};
	uint32_t scope = JITBPF_NO_SCOPE, method;

	assert_int_equal(scope_builder_add_method(&builder, "f", "", &method), 0);
	for (uint32_t i = 0; i < JITBPF_SCOPE_DEPTH_MAX; i++)
		scope = add(&builder, scope, method, 0, 1);
	assert_int_equal(scope_builder_add(&builder, scope, method, 0, 1, &method), -E2BIG);
}

CASE(a_table_has_ranges_and_a_limit)
{
	CLEANUP(scope_builder_deinit) struct scope_builder builder = {0};
	AUTO_FREE void *bytes = NULL;
	size_t size_bytes;

	assert_int_equal(scope_builder_make(&builder, BYTES_MAX, &bytes, &size_bytes), -ENODATA);
	assert_int_equal(scope_builder_add_range(&builder, 0, JITBPF_NO_SCOPE), 0);
	assert_int_equal(scope_builder_make(&builder, 23, &bytes, &size_bytes), -E2BIG);
	assert_int_equal(scope_builder_make(&builder, 24, &bytes, &size_bytes), 0);
	assert_int_equal(size_bytes, 24);
}
