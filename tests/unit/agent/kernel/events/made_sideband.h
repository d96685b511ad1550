/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ring of a perf event in memory, and records as the kernel writes them. */
#ifndef JITBPF_TESTS_UNIT_AGENT_KERNEL_MADE_SIDEBAND_H
#define JITBPF_TESTS_UNIT_AGENT_KERNEL_MADE_SIDEBAND_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MADE_SIDEBAND_BYTES	 4096u
#define MADE_SIDEBAND_RECORD_MAX 8192u

/* The end of each record: PERF_SAMPLE_TID | TIME | CPU. */
struct made_sideband_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

/* Returns a control page with the data behind it, to be freed; or NULL. */
static inline struct perf_event_mmap_page *made_sideband(void)
{
	return calloc(1, (size_t)sysconf(_SC_PAGESIZE) + MADE_SIDEBAND_BYTES);
}

static inline void made_sideband_put(struct perf_event_mmap_page *control, uint32_t type,
				     uint16_t misc, const void *body, size_t bytes,
				     const struct made_sideband_id *id)
{
	struct {
		struct perf_event_header header;
		uint8_t body[MADE_SIDEBAND_RECORD_MAX];
	} record = {.header = {.type = type, .misc = misc}};
	uint8_t *data = (uint8_t *)control + sysconf(_SC_PAGESIZE);
	size_t body_bytes = (bytes + 7) & ~7ul;
	uint64_t head = control->data_head;

	memcpy(record.body, body, bytes);
	memcpy(record.body + body_bytes, id, sizeof(*id));
	record.header.size = (uint16_t)(sizeof(record.header) + body_bytes + sizeof(*id));
	for (uint32_t i = 0; i < record.header.size; i++)
		data[(head + i) % MADE_SIDEBAND_BYTES] = ((const uint8_t *)&record)[i];
	control->data_head = head + record.header.size;
}

#endif
