/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a live page gets, from a recording: make_deltas page|deltas RECORDING [BY [hide]] >file. The
 * page has frames of processes by a value of --by. With `hide`, it hides kernel and inlined frames,
 * and has names of functions. Deltas come with their sizes, as agent/server/server_message.h says:
 * a common sequence, in small pieces, of several rounds.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "base/shared_bytes.h"
#include "cli/options/memory_option.h"
#include "cli/replay.h"
#include "sink/format/live_page.h"
#include "sink/live/live_sink.h"

#define PERIOD_NS   100000000ull
#define DELTA_SMALL 4096

static void write_size(uint32_t size_bytes)
{
	uint32_t size = htole32(size_bytes);

	fwrite(&size, sizeof(size), 1, stdout);
}

static bool write_delta(void *context, struct shared_bytes *delta, bool snapshot)
{
	write_size((uint32_t)delta->size_bytes);
	fwrite(delta->data, 1, delta->size_bytes, stdout);
	shared_bytes_put(delta);
	return false;
}

static int write_deltas(const char *recording)
{
	const struct code_line_rules no_rules = {0};
	struct replay replay = {0};
	struct sink *sink;
	int err = replay_open(&replay, recording, NULL, NULL, &no_rules, false, NULL, 256u << 20);

	err = err ?: live_sink_create(write_delta, NULL, DELTA_SMALL, &sink);
	err = err ?: pipeline_add_live(replay.pipeline, &sink_live, sink);
	err = err ?: pipeline_subscribe(replay.pipeline, sink, PERIOD_NS);
	err = err ?: replay_run(&replay);
	replay_close(&replay);
	write_size(0);
	return err;
}

/* Returns false if no value of --by has the name. */
static bool read_by(const char *name, uint32_t *ret)
{
	for (uint32_t by = 0; view_by_names[by]; by++) {
		*ret = by;
		if (!strcmp(view_by_names[by], name))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct view_options view = {0};
	int err;

	if (argc < 3 || (argc > 3 && !read_by(argv[3], &view.by))) {
		fprintf(stderr, "usage: make_deltas page|deltas RECORDING [BY [hide]]\n");
		return 2;
	}
	if (argc > 4) {
		view.no_inline = true;
		view.merge = VIEW_MERGE_ALL;
		view.kernel = VIEW_KERNEL_HIDDEN;
	}
	if (!strcmp(argv[1], "page"))
		err = live_page_write(stdout, &view);
	else
		err = write_deltas(argv[2]);
	return err || fflush(stdout) ? 1 : 0;
}
