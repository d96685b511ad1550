/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lives of JIT code built by hand, with samples in a made view. */
#ifndef TESTS_MADE_LIVES_H
#define TESTS_MADE_LIVES_H

#include "sink/timeline/code_lives.h"
#include "state/code/code_region.h"
#include "tests/unit/sink/made_view.h"

#define MADE_START_NS 1000000000 /* of made_view */

struct made_lives {
	struct made_view made;
	struct code_lives lives;
	struct code_claim claim;
	struct code_record record; /* of the last load */
	char name[1 << 21];	   /* of the record */
};

MADE void made_lives_init(struct made_lives *m)
{
	*m = (struct made_lives){0};
	made_init(&m->made);
	assert_int_equal(code_lives_init(&m->lives, CODE_LIVES_MAX), 0);
}

MADE void made_lives_deinit(struct made_lives *m)
{
	made_deinit(&m->made);
	code_lives_deinit(&m->lives);
}

MADE void made_life_take(struct made_lives *m, uint64_t time_ns, bool ended)
{
	code_lives_take(&m->lives, &(struct sink_region){.time_ns = time_ns,
							 .region = &m->record.region,
							 .ended = ended,
							 .process = 1,
							 .pid = 100,
							 .comm = "engine"});
}

/* time_ns 0: before the run. */
MADE void made_life(struct made_lives *m, uint64_t identity, uint64_t time_ns, uint64_t size_bytes,
		    const char *name)
{
	assert_true(strlen(name) < sizeof(m->name));
	strcpy(m->name, name);
	m->claim = (struct code_claim){.time_ns = time_ns, .before_run = !time_ns};
	m->record = (struct code_record){
		.region = {.value.refs = 1, /* it is not on the heap: never the last one */
			   .number = identity - 1,
			   .address = 0x5000,
			   .size_bytes = size_bytes,
			   .claims = &m->claim,
			   .claim_count = 1,
			   .name = m->name,
			   .texts = CODE_NO_TEXTS},
	};
	made_life_take(m, time_ns, false);
}

/* Count samples in the code that was loaded last; its frame has the name. Until m->record is
 * another one, since locations refer to it. */
MADE uint32_t made_life_sample(struct made_lives *m, uint64_t count, const char *name,
			       const char *module)
{
	struct location location = {.kind = LOCATION_JIT,
				    .owner = code_region_identity(&m->record.region),
				    .offset = 4,
				    .code = &m->record.region.value};
	struct frame frame = made_frame(&m->made, FRAME_KIND_JIT, name, module);
	uint32_t number;

	assert_int_equal(location_table_add(&m->made.locations, &location, &number), 0);
	assert_int_equal(frame_table_set(m->made.frames, number, &frame, 1), 0);
	return made_stack(&m->made, 1, "engine", count, STACK(number));
}

#endif
