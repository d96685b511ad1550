/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/page/packages_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/files/file_store.h"
#include "base/scope.h"
#include "sink/format/unnamed_json.h"
#include "state/process/module_table.h"

struct packages_job {
	struct answer_job job;
	struct unnamed_file files[FILE_PACKAGES_MAX];	 /* paths are those of the modules */
	const struct module *modules[FILE_PACKAGES_MAX]; /* held */
	size_t count;
};

static int begin(union answer_search *ret, const struct view *view, const union data_wanted *wanted)
{
	ret->unnamed = (struct unnamed_search){.epoch = view->epoch};
	return 0;
}

static int step(union answer_search *search, const struct view *view, const struct sink *history)
{
	return unnamed_search_step(&search->unnamed, view, ANSWER_STEP_ITEMS);
}

static void end(union answer_search *search)
{
	unnamed_search_deinit(&search->unnamed);
}

static void free_job(struct answer_job *job_)
{
	struct packages_job *job = (struct packages_job *)job_;

	for (size_t i = 0; i < job->count; i++)
		module_release(job->modules[i]);
	free(job);
}

static int make_job(union answer_search *search, const struct view *view,
		    const struct sink *history, const union data_wanted *wanted,
		    struct answer_job **ret)
{
	struct packages_job *job = calloc(1, sizeof(*job));
	unnamed_file_list files = {0};
	int err = job ? unnamed_search_result(&search->unnamed, view, &files, NULL) : -ENOMEM;

	for (size_t i = 0; !err && i < files.size; i++) {
		const struct module *module = module_table_get(view->modules, files.data[i].module);

		if (!module || strcmp(module->path, files.data[i].path) != 0)
			continue;
		job->modules[job->count] = module_hold(module);
		job->files[job->count] = files.data[i];
		job->files[job->count++].path = module->path;
	}
	vec_deinit(&files);
	if (err)
		free(job);
	else
		*ret = &job->job;
	return err;
}

static int write_answer(struct answer_job *job_, FILE *out)
{
	struct packages_job *job = (struct packages_job *)job_;
	CLEANUP(file_packages_deinit) struct file_packages packages = {0};
	struct json json = json_of(out, false);
	int err = 0;

	if (job->count)
		err = file_store_find_packages(job->job.sources->store, job->modules, job->count,
					       &packages);
	if (err)
		return err;
	json_begin(&json, '{');
	json_key(&json, "unnamed");
	err = unnamed_json_write(&json, job->files, job->count, &packages);
	json_end(&json, '}');
	return err;
}

const struct answer_kind packages_answer = {
	.begin = begin,
	.step = step,
	.make_job = make_job,
	.end = end,
	.write = write_answer,
	.free = free_job,
};
