/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/complete/complete_recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"
#include "cli/memory_limit.h"
#include "cli/replay.h"
#include "sink/annotate/function_samples.h"
#include "sink/cgroup_text.h"

static bool is_own_recording(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_size <= COMPLETE_RECORDING_MAX;
}

static int compare(const void *a_, const void *b_)
{
	const struct sampled_function *a = a_, *b = b_;

	return (a->samples < b->samples) - (a->samples > b->samples);
}

static int add_name(recorded_names *names, const char *name)
{
	char *copy = strdup(name);

	if (copy && !vec_push(names, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

static int take_functions(struct function_samples *samples, recorded_names *ret)
{
	int err = 0;

	if (samples->functions.size)
		qsort(samples->functions.data, samples->functions.size,
		      sizeof(*samples->functions.data), compare);
	vec_for_each (function, &samples->functions) {
		if (!err && ret->size < COMPLETE_NAMES_MAX)
			err = add_name(ret, function->name);
	}
	return err;
}

static int replay_all(struct replay *replay, const char *path)
{
	int err = is_own_recording(path) ? 0 : -ENOENT;

	err = err ?: replay_open(replay, path, NULL, NULL, NULL, false, NULL, memory_of_reader(1));
	return err ?: replay_run(replay);
}

int complete_functions(const char *path, recorded_names *ret)
{
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	CLEANUP(replay_close) struct replay replay = {0};
	int err = replay_all(&replay, path);

	err = err ?: function_samples_init(&samples, pipeline_view(replay.pipeline));
	return err ?: take_functions(&samples, ret);
}

/* Add what --container takes for a cgroup: "" is none. */
static int add_once(recorded_names *names, const char *name)
{
	if (!strcmp(name, "/"))
		name = CGROUP_TEXT_HOST;
	vec_for_each (known, names) {
		if (!strcmp(*known, name))
			return 0;
	}
	return *name && names->size < COMPLETE_NAMES_MAX ? add_name(names, name) : 0;
}

int complete_containers(const char *path, recorded_names *ret)
{
	CLEANUP(replay_close) struct replay replay = {0};
	const struct string_pool *strings;
	const struct view *view;
	int err = replay_all(&replay, path);

	if (err)
		return err;
	view = pipeline_view(replay.pipeline);
	strings = view->strings;
	vec_for_each (thread, &view->threads->threads) {
		err = err ?: add_once(ret, string_pool_get(strings, thread->container));
		err = err ?: add_once(ret, string_pool_get(strings, thread->unit));
	}
	return err;
}

void recorded_names_deinit(recorded_names *names)
{
	vec_for_each (name, names)
		free(*name);
	vec_deinit(names);
}
