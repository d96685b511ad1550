/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An output that fails loses itself only. */
#include <stdint.h>

#include "base/scope.h"
#include "sink/sink_list.h"
#include "tests/unit/cases.h"
#include "tests/unit/sink/made_view.h"

enum call { CALL_CREATE, CALL_SAMPLE, CALL_CODE, CALL_FINISH, CALL_DESTROY, CALL_COUNT };

/* A sink whose "file" is where it counts its calls, of which one fails. */
struct counted {
	int calls[CALL_COUNT];
	int error_of[CALL_COUNT];
	int fails_at; /* which of these calls; 0 is the first */
};

static int called(struct counted *counted, enum call call)
{
	return counted->calls[call]++ == counted->fails_at ? counted->error_of[call] : 0;
}

static int counted_create(FILE *out, struct sink **ret)
{
	int err = called((struct counted *)out, CALL_CREATE);

	if (!err)
		*ret = (struct sink *)out;
	return err;
}

static int counted_sample(struct sink *sink, const struct view *view,
			  const struct sink_sample *sample)
{
	return called((struct counted *)sink, CALL_SAMPLE);
}

static int counted_code(struct sink *sink, const struct view *view, const struct sink_code *code)
{
	return called((struct counted *)sink, CALL_CODE);
}

static int counted_finish(struct sink *sink, const struct view *view)
{
	return called((struct counted *)sink, CALL_FINISH);
}

static void counted_destroy(struct sink *sink)
{
	called((struct counted *)sink, CALL_DESTROY);
}

static const struct sink_ops counting = {
	.name = "counting",
	.extension = ".counting",
	.create = counted_create,
	.sample = counted_sample,
	.code = counted_code,
	.finish = counted_finish,
	.destroy = counted_destroy,
};

/* Three sinks, of which that in the middle fails as `bad` says. */
static void run_three(struct counted sinks[3], int wanted_error)
{
	struct sink_list list = {0};
	struct sink_sample sample = {.time_ns = 1};
	struct sink_code code = {.time_ns = 1};

	for (int i = 0; i < 3; i++)
		assert_int_equal(sink_list_add(&list, &counting, (FILE *)&sinks[i]), 0);
	for (int i = 0; i < 4; i++) {
		sink_list_sample(&list, NULL, &sample);
		sink_list_code(&list, NULL, &code);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(sink_list_finish(&list, NULL, (FILE *)&sinks[i]),
				 i == 1 ? wanted_error : 0);
	/* Asked again, it says the same and calls nobody. */
	assert_int_equal(sink_list_finish(&list, NULL, (FILE *)&sinks[1]), wanted_error);
	sink_list_deinit(&list);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sinks[i].calls[CALL_DESTROY], 1);
	for (int i = 0; i < 3; i += 2) {
		assert_int_equal(sinks[i].calls[CALL_SAMPLE], 4);
		assert_int_equal(sinks[i].calls[CALL_CODE], 4);
		assert_int_equal(sinks[i].calls[CALL_FINISH], 1);
	}
}

CASE(a_failed_sample_ends_its_sink_only)
{
	struct counted sinks[3] = {
		[1] = {.error_of[CALL_SAMPLE] = -ENOMEM, .fails_at = 2},
	};

	run_three(sinks, -ENOMEM);
	assert_int_equal(sinks[1].calls[CALL_SAMPLE], 3);
	assert_int_equal(sinks[1].calls[CALL_CODE], 2);
	assert_int_equal(sinks[1].calls[CALL_FINISH], 0);
}

CASE(a_failed_change_of_code_ends_its_sink_only)
{
	struct counted sinks[3] = {[1] = {.error_of[CALL_CODE] = -EINVAL}};

	run_three(sinks, -EINVAL);
	assert_int_equal(sinks[1].calls[CALL_SAMPLE], 1);
	assert_int_equal(sinks[1].calls[CALL_CODE], 1);
	assert_int_equal(sinks[1].calls[CALL_FINISH], 0);
}

CASE(a_failed_finish_ends_its_sink_only)
{
	struct counted sinks[3] = {[1] = {.error_of[CALL_FINISH] = -ENOSPC}};

	run_three(sinks, -ENOSPC);
	assert_int_equal(sinks[1].calls[CALL_SAMPLE], 4);
	assert_int_equal(sinks[1].calls[CALL_FINISH], 1);
}

CASE(a_sink_that_cannot_be_created_is_not_added)
{
	struct counted bad = {.error_of[CALL_CREATE] = -ENOMEM};
	struct sink_list list = {0};

	assert_int_equal(sink_list_add(&list, &counting, (FILE *)&bad), -ENOMEM);
	assert_false(sink_list_takes_code(&list));
	assert_int_equal(sink_list_finish(&list, NULL, (FILE *)&bad), -EINVAL);
	sink_list_deinit(&list);
	assert_int_equal(bad.calls[CALL_DESTROY], 0);
}

/* A sink that has failed takes nothing any more, so that nobody makes it. */
CASE(what_sinks_take_follows_their_failures)
{
	struct counted counted = {.error_of[CALL_CODE] = -ENOMEM};
	struct sink_code code = {.time_ns = 1};
	struct sink_list list = {0};
	FILE *out = fopen("/dev/null", "w");

	assert_int_equal(sink_list_add(&list, &sink_summary, out), 0);
	assert_false(sink_list_takes_code(&list));
	assert_int_equal(sink_list_add(&list, &counting, (FILE *)&counted), 0);
	assert_true(sink_list_takes_code(&list));
	sink_list_code(&list, NULL, &code);
	assert_false(sink_list_takes_code(&list));
	sink_list_deinit(&list);
	fclose(out);
}
