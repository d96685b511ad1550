/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends events as an engine does: payloads are made byte by byte as the JIT
 * Profiling API lays them out on x86-64, not from anybody's structs. Each ends
 * where memory does, so that reading one byte too many is found out; what the API
 * does not define is garbage; and with the call's return everything is overwritten.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_PAYLOAD_H
#define JITBPF_TESTS_CONFORMANCE_PAYLOAD_H

#include <stdint.h>

#include "tests/conformance/rules.h"
#include "tests/engine/jit_client.h"

struct payload_sender {
	unsigned int (*notify)(unsigned int event, void *data);
	jit_second_fn second; /* engine 1 sends through it */
	uint64_t base;	      /* of the memory for code */
	uint8_t *end;	      /* of the memory that can be read */
};

/* Returns 0 or negative errno. */
int payload_sender_init(struct payload_sender *sender, const struct jit_client *client,
			jit_second_fn second, uint64_t base);
void payload_sender_deinit(struct payload_sender *sender);

/*
 * Returns what NotifyEvent returned. An unload by id that gives no address passes no
 * more than the id, as LLVM does; any other passes a whole load.
 */
unsigned int payload_send(const struct payload_sender *sender, const struct rule_event *event);

#endif
