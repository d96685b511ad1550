/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes seeds of fuzz_delta into a directory: the deltas of short random runs. To
 * be run by hand:
 *   gcc -std=gnu11 -D_GNU_SOURCE -I. -Iuser tests/fuzz/seed/delta.c build/libcore.a
 *       -lZydis -liberty -lz -llzma -lzstd -o build/seed && build/seed tests/fuzz/corpus/delta
 * The seed `events` is what tests/ui/make_deltas writes of tests/golden/events.jitbpf, with sizes
 * of three bytes.
 */
#include <stdio.h>

#include "sink/live/live_sink.h"
#include "tests/unit/pipeline/random_run.h"

static struct made_run run;

static bool publish(void *file, struct shared_bytes *delta, bool snapshot)
{
	const uint8_t size[] = {(uint8_t)delta->size_bytes, (uint8_t)(delta->size_bytes >> 8),
				(uint8_t)(delta->size_bytes >> 16)};

	fwrite(size, 1, sizeof(size), file);
	fwrite(delta->data, 1, delta->size_bytes, file);
	shared_bytes_put(delta);
	return false;
}

static void save(const char *folder, uint32_t seed, uint32_t rounds, uint32_t records,
		 size_t delta_bytes)
{
	char path[256];
	struct random_run random;
	struct sink *live;
	FILE *file;

	snprintf(path, sizeof(path), "%s/run-%u-%u", folder, rounds, seed);
	file = fopen(path, "w");
	made_require(file);
	made_run_begin_bare(&run, &(struct pipeline_options){0});
	made_require(!live_sink_create(publish, file, delta_bytes, &live));
	made_require(!pipeline_add_live(run.pipeline, &sink_live, live));
	made_require(!pipeline_subscribe(run.pipeline, live, 1));
	random_begin(&run, &random, seed);
	for (uint32_t i = 0; i < rounds; i++)
		random_round(&run, &random, records);
	made_require(!pipeline_finish(run.pipeline));
	made_run_end(&run);
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	save(argv[1], 1, 1, 3, DELTA_BYTES);
	save(argv[1], 2, 3, 5, DELTA_BYTES);
	save(argv[1], 3, 6, 20, 1000);
	save(argv[1], 4, 10, 2, 100);
	return 0;
}
