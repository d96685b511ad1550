/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/code_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"

struct sink {
	struct code_lives lives;
};

static void destroy(struct sink *history)
{
	code_lives_deinit(&history->lives);
	free(history);
}

int code_history_create(uint64_t max_bytes, struct sink **ret)
{
	struct sink *history = calloc(1, sizeof(*history));

	if (!history)
		return -ENOMEM;
	if (code_lives_init(&history->lives, max_bytes)) {
		destroy(history);
		return -ENOMEM;
	}
	*ret = history;
	return 0;
}

/* Never fails: a failed sink is destroyed, but live pages still refer to this one. */
static int take_region(struct sink *history, const struct view *view,
		       const struct sink_region *change)
{
	code_lives_take(&history->lives, change);
	return 0;
}

const struct code_lives *code_history_lives(const struct sink *history)
{
	return &history->lives;
}

uint64_t code_history_end(const struct sink *history, uint64_t identity)
{
	const struct code_life *life = code_lives_find(&history->lives, identity);

	return life ? life->ended_ns : 0;
}

const struct sink_ops sink_code_history = {
	.name = "code history",
	.region = take_region,
	.destroy = destroy,
};
