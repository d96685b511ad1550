/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a live page gets, from a recording: make_deltas page|deltas RECORDING [hide] >file. The page
 * hides kernel and inlined frames with `hide`. Deltas come with their sizes, as
 * agent/server/server_message.h says: a common sequence, in small pieces, of several rounds.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "base/shared_bytes.h"
#include "cli/memory_option.h"
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
	int err =
		replay_open(&replay, recording, NULL, NULL, &no_rules, false, NULL, MEMORY_DEFAULT);

	err = err ?: live_sink_create(write_delta, NULL, DELTA_SMALL, &sink);
	err = err ?: pipeline_add_live(replay.pipeline, &sink_live, sink);
	err = err ?: pipeline_subscribe(replay.pipeline, sink, PERIOD_NS);
	err = err ?: replay_run(&replay);
	replay_close(&replay);
	write_size(0);
	return err;
}

int main(int argc, char **argv)
{
	const struct view_options hidden = {.no_inline = true, .kernel = VIEW_KERNEL_HIDDEN};
	const struct view_options all = {0};
	int err;

	if (argc < 3) {
		fprintf(stderr, "usage: make_deltas page|deltas RECORDING [hide]\n");
		return 2;
	}
	if (!strcmp(argv[1], "page"))
		err = live_page_write(stdout, argc > 3 ? &hidden : &all);
	else
		err = write_deltas(argv[2]);
	return err || fflush(stdout) ? 1 : 0;
}
