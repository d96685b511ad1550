/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/patience.h"

#include "agent/clock.h"

void patience_init(struct patience *patience, uint64_t (*read)(void *context, uint64_t *ret_ns),
		   void *context)
{
	*patience = (struct patience){.read = read, .context = context};
	patience->read_ns = patience->time_ns = read(context, &patience->waited_ns);
}

/* The difference of two readings; 0 if the source has failed, or went back. */
static uint64_t since(uint64_t before_ns, uint64_t now_ns)
{
	return now_ns > before_ns ? now_ns - before_ns : 0;
}

uint64_t patience_now_ns(struct patience *patience)
{
	uint64_t now_ns, passed_ns, waited_ns, read_waited_ns = 0, least_ns;

	if (!patience)
		return clock_now_ns();
	now_ns = patience->read(patience->context, &read_waited_ns);
	passed_ns = since(patience->read_ns, now_ns);
	waited_ns = since(patience->waited_ns, read_waited_ns);
	least_ns = (passed_ns + PATIENCE_SLOWEST - 1) / PATIENCE_SLOWEST;
	passed_ns = since(waited_ns, passed_ns);
	patience->time_ns += passed_ns > least_ns ? passed_ns : least_ns;
	patience->read_ns += since(patience->read_ns, now_ns);
	patience->waited_ns = read_waited_ns;
	return patience->time_ns;
}
