/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/cgroup_text.h"

#include <string.h>

const char *cgroup_text(const struct view *view, uint32_t container, uint32_t unit)
{
	const char *text = string_pool_get(view->strings, container ?: unit);

	if (!*text)
		return CGROUP_TEXT_UNKNOWN;
	return strcmp(text, "/") ? text : CGROUP_TEXT_HOST;
}

struct cgroup_texts cgroup_texts(const struct view *view, uint32_t container, uint32_t unit)
{
	const char *text = string_pool_get(view->strings, unit);
	bool is_path = *text == '/';

	return (struct cgroup_texts){
		.container = string_pool_get(view->strings, container),
		.unit = is_path ? "" : text,
		.path = is_path ? text : "",
	};
}
