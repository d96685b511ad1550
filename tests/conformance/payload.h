/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends events like an engine. Payloads are built byte by byte in the x86-64
 * layout of the JIT Profiling API, without its structs. Each payload ends
 * before an unreadable page, which detects reads beyond it. Bytes that the API
 * does not define are garbage, and after the call everything is overwritten.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_PAYLOAD_H
#define JITBPF_TESTS_CONFORMANCE_PAYLOAD_H

#include <stdint.h>

#include "tests/conformance/rules.h"
#include "tests/programs/engine/jit_client.h"

struct payload_sender {
	unsigned int (*notify)(unsigned int event, void *data);
	jit_second_fn second; /* sends the events of engine 1 */
	uint64_t base;	      /* address of the memory for code */
	uint8_t *end;	      /* end of readable memory */
};

/* Returns 0 or a negative errno. */
int payload_sender_init(struct payload_sender *sender, const struct jit_client *client,
			jit_second_fn second, uint64_t base);
void payload_sender_deinit(struct payload_sender *sender);

/*
 * Returns the result of NotifyEvent. An unload by id without an address passes
 * only the id, like LLVM; any other event passes a whole load.
 */
unsigned int payload_send(const struct payload_sender *sender, const struct rule_event *event);

#endif
