/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/events/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernel/proc/mapping_record.h"
#include "base/scope.h"

/* The end of each record: PERF_SAMPLE_TID | TIME | CPU, by sample_id_all. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, size_bytes, file_offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
	uint32_t tid, parent_tid;
	uint64_t time_ns;
};

struct ksymbol_record {
	struct perf_event_header header;
	uint64_t address;
	uint32_t size_bytes;
	uint16_t kind, flags;
	char name[];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct sideband_reader {
	record_taker_fn take;
	void *take_context;
	uint64_t *lost;
};

/* Returns true for a process outside jitbpf's pid namespace, which has no pid there. */
static bool is_foreign(uint32_t pid)
{
	return !pid || pid == UINT32_MAX;
}

static int take_mmap2(struct sideband_reader *reader, const struct mmap2_record *from,
		      const struct sample_id *id)
{
	struct mapping_record out;
	struct jitbpf_mapping fields = {
		.h.time_ns = id->time_ns,
		.pid = from->pid,
		.tid = from->tid,
		.address = from->address,
		.size_bytes = from->size_bytes,
		.file_offset = from->file_offset,
		.inode = from->inode,
		.inode_generation = from->inode_generation,
		.dev_major = from->dev_major,
		.dev_minor = from->dev_minor,
		.protection = from->protection,
		.map_flags = from->flags,
	};

	if (is_foreign(from->pid))
		return 0;
	mapping_record_fill(&out, &fields, from->path, strlen(from->path));
	return reader->take(reader->take_context, &out.record.h);
}

static int take_comm(struct sideband_reader *reader, const struct comm_record *from,
		     const struct sample_id *id)
{
	struct jitbpf_comm out = {
		.h = {.size_bytes = sizeof(out), .type = JITBPF_COMM, .time_ns = id->time_ns},
		.pid = from->pid,
		.tid = from->tid,
	};

	if (is_foreign(from->pid))
		return 0;
	if (from->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		out.h.flags |= JITBPF_COMM_EXEC;
	strncpy(out.comm, from->comm, sizeof(out.comm) - 1);
	return reader->take(reader->take_context, &out.h);
}

static int take_fork(struct sideband_reader *reader, const struct task_record *from)
{
	struct jitbpf_task out = {
		.h = {.size_bytes = sizeof(out), .type = JITBPF_FORK, .time_ns = from->time_ns},
		.pid = from->pid,
		.tid = from->tid,
		.parent_pid = from->parent_pid,
		.parent_tid = from->parent_tid,
	};

	if (is_foreign(from->pid))
		return 0;
	return reader->take(reader->take_context, &out.h);
}

static int take_ksymbol(struct sideband_reader *reader, const struct ksymbol_record *from,
			const struct sample_id *id)
{
	union {
		struct jitbpf_kernel_symbol record;
		char room[sizeof(struct jitbpf_kernel_symbol) + 512];
	} out = {0};
	size_t name_bytes = strnlen(from->name, 511);

	out.record = (struct jitbpf_kernel_symbol){
		.h = {.size_bytes = (uint32_t)(sizeof(out.record) + name_bytes + 1),
		      .type = JITBPF_KERNEL_SYMBOL,
		      .time_ns = id->time_ns},
		.address = from->address,
		.size_bytes = from->size_bytes,
		.kind = from->kind,
	};
	if (from->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
		out.record.h.flags |= JITBPF_KERNEL_SYMBOL_GONE;
	memcpy(out.record.name, from->name, name_bytes);
	return reader->take(reader->take_context, &out.record.h);
}

static int take_throttle(struct sideband_reader *reader, const struct perf_event_header *from,
			 const struct sample_id *id)
{
	struct jitbpf_throttle out = {
		.h = {.size_bytes = sizeof(out), .type = JITBPF_THROTTLE, .time_ns = id->time_ns},
		.cpu = id->cpu,
	};

	if (from->type == PERF_RECORD_UNTHROTTLE)
		out.h.flags |= JITBPF_THROTTLE_END;
	return reader->take(reader->take_context, &out.h);
}

static int take_record(struct sideband_reader *reader, const void *bytes)
{
	const struct perf_event_header *header = bytes;
	const struct sample_id *id =
		(const void *)((const char *)bytes + header->size - sizeof(*id));

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return take_mmap2(reader, bytes, id);
	case PERF_RECORD_COMM:
		return take_comm(reader, bytes, id);
	case PERF_RECORD_FORK:
		return take_fork(reader, bytes);
	case PERF_RECORD_EXIT:
		return 0; /* exits of threads: bpf/process.bpf.c reports the exit of a process */
	case PERF_RECORD_KSYMBOL:
		return take_ksymbol(reader, bytes, id);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return take_throttle(reader, header, id);
	case PERF_RECORD_LOST:
		*reader->lost += ((const struct lost_record *)bytes)->lost;
		return 0;
	default:
		return 0;
	}
}

/* Pass on the records from *tail on, and move it behind the last one. */
static int read_ring(const struct cpu_events *events, const struct cpu_event *event,
		     struct sideband_reader *reader, uint64_t *tail)
{
	const struct perf_event_mmap_page *control = event->sideband;
	const char *data = (const char *)event->sideband + sysconf(_SC_PAGESIZE);
	uint64_t mask = events->sideband_bytes - 1;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t record[(1u << 16) / sizeof(uint64_t)]; /* a perf record's size is 16 bits */
	int err = 0;

	while (*tail < head && !err) {
		const struct perf_event_header *header = (const void *)(data + (*tail & mask));
		uint16_t size = header->size;
		uint64_t until_wrap = events->sideband_bytes - (*tail & mask);
		size_t first = size < until_wrap ? size : until_wrap;

		memcpy(record, header, first);
		memcpy((char *)record + first, data, size - first);
		err = take_record(reader, record);
		*tail += size;
	}
	return err;
}

int sideband_drain(const struct cpu_events *events, const struct cpu_event *event,
		   record_taker_fn take, void *take_context, uint64_t *lost)
{
	struct sideband_reader reader = {take, take_context, lost};
	struct perf_event_mmap_page *control = event->sideband;
	uint64_t tail = control->data_tail;
	int err = read_ring(events, event, &reader, &tail);

	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

int sideband_peek(const struct cpu_events *events, const struct cpu_event *event,
		  record_taker_fn take, void *take_context, uint64_t *lost)
{
	struct sideband_reader reader = {take, take_context, lost};
	uint64_t tail = ((const struct perf_event_mmap_page *)event->sideband)->data_tail;

	return read_ring(events, event, &reader, &tail);
}
