/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/replay_source.h"

static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	struct replay_source *replay = context;
	const struct jitbpf_record *record;
	int err;

	for (;;) {
		err = recording_reader_next(replay->reader, &record, &replay->error);
		if (err <= 0)
			return err ?: SOURCE_END;
		if (record->type == JITBPF_CHUNK_ROUND) {
			*ret_time_ns = record->time_ns;
			return SOURCE_ROUND;
		}
		err = take(take_context, record);
		if (err)
			return err;
	}
}

void replay_source_init(struct replay_source *replay, struct recording_reader *reader,
			struct source *ret)
{
	*replay = (struct replay_source){.reader = reader};
	*ret = (struct source){
		.drain = drain,
		.context = replay,
		.finished = true,
	};
}
