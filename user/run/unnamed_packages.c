/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/unnamed_packages.h"

#include "profile/ledger.h"
#include "sink/naming.h"

#define LEAST_SHARE 100 /* 1/100 of all samples */

static bool are_shown(const struct outputs *outputs, bool summary)
{
	vec_for_each (output, &outputs->files)
		summary |= output->sink && output->sink->packages;
	return summary;
}

static int find(const struct view *view, const struct module_table *modules,
		struct file_store *store, struct file_packages *ret)
{
	const struct module *wanted[FILE_PACKAGES_MAX];
	unnamed_file_list files = {0};
	uint64_t samples = 0;
	size_t count = 0;
	int err = naming_files(view, &files, NULL);

	vec_for_each (file, &files) {
		const struct module *module = module_table_get(modules, file->module);

		samples += file->samples;
		if (module)
			wanted[count++] = module;
	}
	vec_deinit(&files);
	if (err || !count || samples < ledger_taken(view->ledger) / LEAST_SHARE)
		return err ?: -ENOENT;
	return file_store_find_packages(store, wanted, count, ret);
}

void unnamed_packages_find(struct pipeline *pipeline, struct file_store *files,
			   const struct outputs *outputs, bool summary, struct file_packages *ret)
{
	if (are_shown(outputs, summary) &&
	    !find(pipeline_view(pipeline), pipeline_modules(pipeline), files, ret))
		pipeline_set_packages(pipeline, ret);
}
