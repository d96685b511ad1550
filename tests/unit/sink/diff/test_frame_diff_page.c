/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_ledger.h"
#include "tests/unit/sink/page_reader.h"

#include <errno.h>

#include "base/scope.h"
#include "sink/diff/frame_diff.h"
#include "tests/unit/cases.h"

static char *page_of(struct made_view *before, struct made_view *after)
{
	struct frame_diff *diff;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(frame_diff_create(&before->view, &after->view, false, &diff), 0);
	assert_int_equal(frame_diff_write_html(out, diff, &before->view, &after->view), 0);
	frame_diff_destroy(diff);
	fclose(out);
	return text;
}

/* all > p > f, g, h: f only before, h only after, g on both sides. */
CASE(both_sides_are_counted)
{
	CLEANUP(made_deinit) struct made_view before, after;

	made_init(&before);
	made_init(&after);
	made_process(&before, 7, "p", 12, 0, 0, 0);
	made_process(&after, 8, "p", 6, 0, 0, 0);
	made_stack(&before, 0, "p", 3, STACK(made_named(&before, LOCATION_NATIVE, 1, "f", "/a")));
	made_stack(&before, 0, "p", 9, STACK(made_named(&before, LOCATION_JIT, 2, "g", "[jit]")));
	made_stack(&after, 0, "p", 1, STACK(made_named(&after, LOCATION_KERNEL, 1, "h", "[k]")));
	made_stack(&after, 0, "p", 5, STACK(made_named(&after, LOCATION_JIT, 9, "g", "[jit]")));
	AUTO_FREE char *page = page_of(&before, &after);
	AUTO_FREE char *data = page_data_of(page);
	assert_non_null(strstr(data, "\"samples\":{\"taken\":12,"));
	assert_non_null(strstr(data, "\"samples\":{\"taken\":6,"));
	page_expect(data, "threads", "pid", "");
	page_expect(data, "nodes", "up", "0 0 0 1 1");
	page_expect(data, "counts", "step", "2 1 0 1");
	page_expect(data, "counts", "group", "0 0 1 1");
	page_expect(data, "counts", "samples", "3 9 5 1");
}

CASE(two_empty_profiles_are_a_page)
{
	CLEANUP(made_deinit) struct made_view before, after;

	made_init(&before);
	made_init(&after);
	AUTO_FREE char *page = page_of(&before, &after);
	AUTO_FREE char *data = page_data_of(page);
	page_expect(data, "nodes", "up", "0");
	page_expect(data, "nodes", "label", "0");
	page_expect(data, "counts", "samples", "");
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(scope_fclose) FILE *out = fopen("/dev/full", "w");
	struct frame_diff *diff;
	int err;

	made_init(&m);
	assert_int_equal(frame_diff_create(&m.view, &m.view, false, &diff), 0);
	err = frame_diff_write_html(out, diff, &m.view, &m.view);
	frame_diff_destroy(diff);
	assert_true(err == -ENOSPC || err == -EIO);
}
