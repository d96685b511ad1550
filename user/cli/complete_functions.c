/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/complete_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"
#include "cli/memory_option.h"
#include "cli/replay.h"
#include "sink/annotate/function_samples.h"

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

static int take_names(struct function_samples *samples, function_names *ret)
{
	if (samples->functions.size)
		qsort(samples->functions.data, samples->functions.size,
		      sizeof(*samples->functions.data), compare);
	vec_for_each (function, &samples->functions) {
		char *name;

		if (ret->size >= COMPLETE_FUNCTIONS_MAX)
			break;
		name = strdup(function->name);
		if (!name || vec_push(ret, name)) {
			free(name);
			return -ENOMEM;
		}
	}
	return 0;
}

int complete_functions(const char *path, function_names *ret)
{
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	CLEANUP(replay_close) struct replay replay = {0};
	int err;

	if (!is_own_recording(path))
		return -ENOENT;
	err = replay_open(&replay, path, NULL, NULL, NULL, false, NULL, MEMORY_DEFAULT);
	err = err ?: replay_run(&replay);
	err = err ?: function_samples_init(&samples, pipeline_view(replay.pipeline));
	return err ?: take_names(&samples, ret);
}

void function_names_deinit(function_names *names)
{
	vec_for_each (name, names)
		free(*name);
	vec_deinit(names);
}
