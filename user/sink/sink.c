/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/sink.h"

#include <string.h>

#include "base/scope.h"

static const struct sink_ops *const sinks[] = {
	&sink_firefox,	  &sink_folded,	 &sink_html,	     &sink_pprof, &sink_script,
	&sink_speedscope, &sink_summary, &sink_summary_json, &sink_top,
};

const struct sink_ops *sink_at(size_t i)
{
	return i < ARRAY_SIZE(sinks) ? sinks[i] : NULL;
}

const struct sink_ops *sink_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++) {
		if (!strcmp(sinks[i]->name, name))
			return sinks[i];
	}
	return NULL;
}

const struct sink_ops *sink_by_path(const char *path)
{
	size_t path_bytes = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++) {
		size_t bytes = strlen(sinks[i]->extension);

		if (path_bytes >= bytes && !strcmp(path + path_bytes - bytes, sinks[i]->extension))
			return sinks[i];
	}
	return NULL;
}
