/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Deltas one after the other, each behind its size in three bytes, applied to one profile. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "sink/live/delta_reader.h"
#include "tests/fuzz/seeds.h"

#define MAX_BYTES (16u << 20)

SEEDS(5);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void check_samples(const struct delta_profile *p, const struct delta_samples *of)
{
	vec_for_each (root, &of->profile.roots)
		require(root->comm < string_pool_size(p->strings));
	for (uint32_t i = 0; i < of->profile.nodes.size; i++) {
		const struct profile_node *node = &of->profile.nodes.data[i];

		if (node->parent == PROFILE_NODE_NONE)
			require(!p->complete || node->location < p->ledger.processes.size);
		else
			require(node->parent < i && node->location < p->locations.locations.size);
	}
	vec_for_each (one, &of->threads.counts)
		require(one->node < of->profile.nodes.size &&
			one->thread < of->threads.threads.size);
	vec_for_each (slice, &of->slices.slices)
		require(slice->count < of->threads.counts.size && slice->samples);
}

/* All numbers of the profile refer to something. */
static void check(const struct delta_profile *p)
{
	uint32_t strings = string_pool_size(p->strings), count;

	for (uint32_t i = 0; i < p->locations.locations.size; i++) {
		const struct frame *frames = frame_table_get(p->frames, i, &count);

		for (uint32_t k = 0; k < count; k++) {
			const struct named_function *function =
				frame_table_function(p->frames, &frames[k]);

			require(frames[k].name < strings && frames[k].module < strings &&
				frames[k].file < strings && frames[k].tier < CODE_TIER_COUNT);
			require(function && function->name < strings);
		}
	}
	check_samples(p, &p->samples);
	for (uint32_t i = 0; i < p->info.more_events; i++) {
		check_samples(p, &p->events[i].samples);
		require(p->by_event[i + 1] == &p->events[i].view);
		require(!p->complete ||
			p->events[i].ledger.processes.size == p->ledger.processes.size);
	}
	vec_for_each (row, &p->ledger.processes)
		require(row->comm < strings);
	require(p->used_bytes <= MAX_BYTES);
}

/* A complete profile can be written. */
static void write_out(const struct delta_profile *p, const struct sink_ops *ops)
{
	FILE *out = fopen("/dev/null", "w");
	struct sink *sink;

	require(out && !ops->create(out, &sink));
	require(!ops->finish(sink, &p->view));
	ops->destroy(sink);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor at = cursor_of(data, size_bytes);
	struct delta_profile profile;
	uint8_t size[3];
	const void *delta;

	delta_profile_init(&profile, &(struct view_options){.by = VIEW_BY_TID}, MAX_BYTES);
	while (!cursor_read(&at, size, sizeof(size))) {
		size_t bytes = size[0] | size[1] << 8 | size[2] << 16;

		if (bytes > cursor_left(&at))
			bytes = cursor_left(&at);
		require(!cursor_take(&at, bytes, &delta));
		int err = delta_profile_apply(&profile, delta, bytes);

		require(!err || err == -EBADMSG || err == -ESTALE || err == -E2BIG);
		require(!profile.state == !profile.strings);
		if (profile.state)
			check(&profile);
	}
	if (profile.state && profile.complete) {
		seed_taken();
		write_out(&profile, &sink_folded);
		write_out(&profile, &sink_html);
		write_out(&profile, &sink_summary_json);
	}
	delta_profile_deinit(&profile);
	return 0;
}
