/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/code_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "state/code/code_region.h"

struct change {
	uint64_t time_ns;
	uint64_t identity; /* of the region that a load entered; 0: an unload, or none */
	uint64_t address, size_bytes;
	uint64_t method_id;
	uint32_t process;
	bool gone;
};

struct sink {
	VEC(struct change) changes; /* by time */
	size_t max;
	bool full;
};

int code_history_create(size_t max, struct sink **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->max = max;
	return 0;
}

static void destroy(struct sink *history)
{
	vec_deinit(&history->changes);
	free(history);
}

static int take_code(struct sink *history, const struct view *view, const struct sink_code *code)
{
	struct change change = {
		.time_ns = code->time_ns,
		.identity = code->region ? code_region_identity(code->region) : 0,
		.address = code->address,
		.size_bytes = code->size_bytes,
		.method_id = code->method_id,
		.process = code->process,
		.gone = code->gone,
	};

	if (history->changes.size >= history->max) {
		history->full = true;
		return 0;
	}
	return vec_push(&history->changes, change);
}

static bool ends(const struct change *change, const struct change *load)
{
	if (change->process != load->process || change->time_ns < load->time_ns)
		return false;
	if (change->gone && change->method_id && !change->address)
		return change->method_id == load->method_id;
	if (change->gone && !change->size_bytes)
		return change->address == load->address;
	return change->address < load->address + load->size_bytes &&
	       load->address < change->address + change->size_bytes;
}

uint64_t code_history_end(const struct sink *history, uint64_t identity)
{
	const struct change *changes = history->changes.data;
	size_t load = 0, count = history->changes.size;

	while (load < count && changes[load].identity != identity)
		load++;
	for (size_t i = load + 1; i < count; i++) {
		/* Another publisher can describe the same code. */
		if (changes[i].identity != identity && ends(&changes[i], &changes[load]))
			return changes[i].time_ns;
	}
	return load < count && !history->full ? UINT64_MAX : 0;
}

const struct sink_ops sink_code_history = {
	.name = "code history",
	.code = take_code,
	.destroy = destroy,
};
