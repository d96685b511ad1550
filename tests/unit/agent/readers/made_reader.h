/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A broker that starts real readers, and options for a client of theirs, for cmocka tests. */
#ifndef JITBPF_TESTS_MADE_READER_H
#define JITBPF_TESTS_MADE_READER_H

#include "agent/readers/reader_client.h"
#include "agent/readers/reader_service.h"
#include "tests/unit/agent/own_program.h"

#define MADE_ANSWER_MS 60000 /* longer than any answer takes */

struct made_reader {
	struct broker broker;
	_Atomic uint64_t failures;     /* of readers */
	struct reader_options options; /* the files are those of own_program_open() */
};

/* The caller calls made_reader_deinit() in any case. Must not be moved in memory. */
static inline int made_reader_init(struct made_reader *made)
{
	static const role_fn functions[ROLE_COUNT] = {[ROLE_READER] = reader_service_run};

	made->options = (struct reader_options){
		.broker = &made->broker,
		.files = {.open_module = own_program_open},
		.answer_ms = MADE_ANSWER_MS,
		.failures = &made->failures,
	};
	return broker_start(functions, &made->broker);
}

static inline void made_reader_deinit(struct made_reader *made)
{
	broker_stop(&made->broker);
}

#endif
