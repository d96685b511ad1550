/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rounds of random records for a made run, the same for the same seed: stacks of
 * kernel, native, JIT and unknown code in several processes and threads, code
 * that is loaded, overwritten and unloaded, names that change, processes that come
 * and go, and losses.
 */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_RANDOM_RUN_H
#define JITBPF_TESTS_UNIT_PIPELINE_RANDOM_RUN_H

#include "tests/unit/pipeline/made_run.h"

#define RANDOM_PROCESSES 4
#define RANDOM_METHODS	 40
#define RANDOM_FILE	 0x400000 /* where a file is mapped in each process */
#define RANDOM_KERNEL	 0xffffffff81000000ull
#define RANDOM_PROGRAM	 0xffffffffc0000000ull /* code that the kernel generates */
#define RANDOM_FRAMES	 20

struct random_run {
	uint64_t state;	  /* of the generator; not 0 */
	uint64_t time_ns; /* of the last record */
	uint64_t step_ns; /* records are up to that much apart */
	uint64_t sequence[RANDOM_PROCESSES];
	uint64_t agent_sequence[RANDOM_PROCESSES];
	uint32_t loaded_pid; /* of the last load; 0: its code may have ended */
	uint64_t loaded_address, loaded_ns;
	uint32_t short_lived; /* how many short-lived processes there were */
};

static inline uint32_t random_below(struct random_run *random, uint32_t limit)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return (uint32_t)((random->state >> 32) % limit);
}

static inline uint32_t random_pid(struct random_run *random)
{
	return MADE_PID + random_below(random, RANDOM_PROCESSES);
}

static inline void random_load(struct made_run *run, struct random_run *random)
{
	uint32_t pid = random_pid(random), method = random_below(random, RANDOM_METHODS);
	uint64_t *sequence = &random->sequence[pid - MADE_PID];
	struct jitbpf_jit_header *header;
	char name[32] = "";

	if (random_below(random, 8))
		snprintf(name, sizeof(name), "method%u.%u", method, random_below(random, 3));
	header = make_jit_of(run, random->time_ns, pid, MADE_START, (*sequence)++, name);
	header->method_id = method + 1;
	header->address = MADE_CODE + method * 0x100;
	random->loaded_pid = *name ? pid : 0;
	random->loaded_address = header->address;
	random->loaded_ns = random->time_ns;
	if (!*name)
		header->event = 14; /* an unload */
	else if (!random_below(random, 16))
		random->loaded_pid = header->address = 0; /* a registration without code */
}

static inline uint64_t random_ip(struct random_run *random)
{
	switch (random_below(random, 8)) {
	case 0:
		return 0x10000 + random_below(random, 4); /* nothing is mapped */
	case 1:
	case 2:
	case 3:
		return RANDOM_FILE + random_below(random, 200) * 16;
	default:
		return MADE_CODE + random_below(random, RANDOM_METHODS * 16) * 16;
	}
}

static inline void random_sample(struct made_run *run, struct random_run *random)
{
	uint16_t kernel = (uint16_t)(random_below(random, 3) ? 0 : 1 + random_below(random, 4));
	uint16_t user = (uint16_t)random_below(random, RANDOM_FRAMES - 4);
	uint32_t pid = random_pid(random);
	uint64_t words[RANDOM_FRAMES];
	struct jitbpf_sample *sample;

	for (uint16_t i = 0; i < kernel; i++)
		words[i] = (random_below(random, 4) ? RANDOM_KERNEL : RANDOM_PROGRAM) +
			   random_below(random, 64) * 16;
	for (uint16_t i = kernel; i < kernel + user; i++)
		words[i] = random_ip(random);
	sample = make_sample_of(run, random->time_ns, pid, MADE_START, words,
				(uint16_t)(kernel + user));
	sample->tid += random_below(random, 3) * 1000;
	sample->cpu = random_below(random, 2);
	sample->kernel_words = kernel;
	sample->user_words = user;
	sample->user_end = !user		      ? JITBPF_END_NONE
			   : random_below(random, 10) ? JITBPF_END_ROOT
						      : JITBPF_END_NO_ROOM;
	snprintf(sample->comm, sizeof(sample->comm), "thread%u", random_below(random, 3));
}

/* A thread of a process gets a name, ends, begins anew, or is renamed by the kernel. */
static inline void random_thread(struct made_run *run, struct random_run *random)
{
	uint32_t pid = random_pid(random), tid = pid + random_below(random, 3) * 1000;
	uint64_t *sequence = &random->agent_sequence[pid - MADE_PID];
	struct jitbpf_jit_header *header;
	struct jitbpf_task *task;
	char name[40];

	snprintf(name, sizeof(name), "worker-with-a-name-%u", random_below(random, 3));
	switch (random_below(random, 6)) {
	case 0:
		task = make_record(run, JITBPF_FORK, sizeof(*task), random->time_ns);
		task->pid = task->parent_pid = task->parent_tid = pid;
		task->tid = tid;
		break;
	case 1:
	case 2:
		if (tid == pid)
			break; /* it would rename the process */
		make_comm(run, random->time_ns, pid, random_below(random, 4) ? name : "other",
			  false);
		((struct jitbpf_comm *)run->records[run->record_count - 1])->tid = tid;
		break;
	default:
		header = make_thread(run, random->time_ns, pid, tid, (*sequence)++,
				     random_below(random, 4) ? name : NULL);
		if (!random_below(random, 3)) /* another thread reports it */
			header->tid =
				((struct jitbpf_jit *)run->records[run->record_count - 1])->tid =
					pid;
	}
}

static inline void random_program(struct made_run *run, struct random_run *random)
{
	char name[24];
	struct jitbpf_kernel_symbol *symbol;
	int bytes = snprintf(name, sizeof(name), "bpf_prog_%u", random_below(random, 100)) + 1;

	symbol = make_record(run, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + (size_t)bytes,
			     random->time_ns);
	symbol->address = RANDOM_PROGRAM + random_below(random, 4) * 0x100;
	symbol->size_bytes = 0x100;
	memcpy(symbol->name, name, (size_t)bytes);
}

static inline void random_lost(struct made_run *run, struct random_run *random)
{
	struct jitbpf_lost_samples *lost =
		make_record(run, JITBPF_LOST_SAMPLES, sizeof(*lost), random->time_ns);

	lost->pid = random_pid(random);
	lost->start_ns = MADE_START;
	lost->count = 1 + random_below(random, 3);
}

/* A process that is forked, runs code of its own and exits. */
static inline void random_short_lived(struct made_run *run, struct random_run *random)
{
	uint32_t pid = 1000 + random->short_lived++;
	const uint64_t words[] = {MADE_CODE + 0x20, RANDOM_FILE + 0x100};

	make_task(run, JITBPF_FORK, random->time_ns, pid, random_pid(random));
	make_comm(run, random->time_ns, pid, "short", true);
	make_jit_of(run, random->time_ns, pid, 0, random_below(random, 3), "brief");
	make_sample_of(run, random->time_ns, pid, 0, words, 2);
	make_task(run, JITBPF_EXIT, ++random->time_ns, pid, 0);
}

static inline void random_rare(struct made_run *run, struct random_run *random)
{
	static const char *const paths[] = {"/", "/a.service", "/a.service/b", "/lxc.payload.c"};
	struct jitbpf_inner_pid *inner;
	struct jitbpf_throttle *throttle;

	switch (random_below(random, 5)) {
	case 0:
		inner = make_record(run, JITBPF_INNER_PID, sizeof(*inner), random->time_ns);
		inner->pid = random_pid(random);
		inner->inner_pid = 1 + random_below(random, 9);
		break;
	case 1:
		throttle = make_record(run, JITBPF_THROTTLE, sizeof(*throttle), random->time_ns);
		throttle->cpu = random_below(random, 2);
		throttle->h.flags = random_below(random, 2) ? JITBPF_THROTTLE_END : 0;
		break;
	case 2:
		make_move(run, random->time_ns, random_pid(random), 1 + random_below(random, 9));
		break;
	case 3:
		make_cgroup(run, random->time_ns, 1 + random_below(random, 9),
			    paths[random_below(random, 4)], random_below(random, 3) ? "" : "web");
		if (!random_below(random, 4))
			run->records[run->record_count - 1]->flags = JITBPF_CGROUP_GONE;
		break;
	default:
		make_counters(run, random->time_ns, random_below(random, 100));
	}
}

/* What exists before the first sample, without the end of its round. */
static inline void random_first_records(struct made_run *run, struct random_run *random,
					uint64_t seed)
{
	*random = (struct random_run){
		.state = seed * 0x9e3779b97f4a7c15ull + 1, .time_ns = 1000, .step_ns = 1000};
	for (uint32_t i = 0; i < RANDOM_PROCESSES; i++) {
		make_comm(run, random->time_ns, MADE_PID + i, i % 2 ? "worker" : "engine", false);
		make_mapping(run, random->time_ns, MADE_PID + i, RANDOM_FILE, "/bin/engine");
		make_mapping(run, random->time_ns, MADE_PID + i, MADE_CODE, "//anon");
	}
}

static inline void random_begin(struct made_run *run, struct random_run *random, uint64_t seed)
{
	random_first_records(run, random, seed);
	made_round(run, ++random->time_ns);
}

/* Up to `records` records, without the end of their round. */
static inline void random_records(struct made_run *run, struct random_run *random, uint32_t records)
{
	for (uint32_t i = 0; i < records && run->record_count + 5 < MADE_RECORDS_MAX; i++) {
		uint32_t kind = random_below(random, 100);

		random->time_ns += 1 + random_below(random, (uint32_t)random->step_ns);
		if (kind < 8)
			random_load(run, random);
		else if (kind < 9)
			random_program(run, random);
		else if (kind < 10)
			random_lost(run, random);
		else if (kind < 11)
			random_short_lived(run, random);
		else if (kind < 13)
			random_rare(run, random);
		else if (kind < 14)
			make_comm(run, random->time_ns, random_pid(random),
				  random_below(random, 2) ? "renamed" : "engine", false);
		else if (kind < 20)
			random_thread(run, random);
		else
			random_sample(run, random);
	}
}

/* One round of up to `records` records. */
static inline void random_round(struct made_run *run, struct random_run *random, uint32_t records)
{
	random_records(run, random, records);
	made_round(run, ++random->time_ns);
}

#endif
