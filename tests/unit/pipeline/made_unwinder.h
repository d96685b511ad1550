/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A substitute for unwind/unwinder.h. It completes stacks when the test says
 * so, and stores the reports of the pipeline. A complete stack is the sample's
 * own frames and the words of its copy; a sample is identified by its time.
 */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_MADE_UNWINDER_H
#define JITBPF_TESTS_UNIT_PIPELINE_MADE_UNWINDER_H

#include "pipeline/finished_records.h"
#include "unwind/unwinder.h"
#include "unwind/unwinder_runtimes.h"
#include "tests/unit/pipeline/made_run.h"

#define MADE_CHANGES_MAX 128
#define MADE_KEY	 7 /* what all samples wait for */

/* A call of unwinder_process_changed() (size_bytes is 0) or unwinder_code_changed(). */
struct made_change {
	uint32_t pid;
	uint64_t address, size_bytes;
};

struct unwinder {
	bool (*is_ready)(uint64_t time_ns); /* returns true if the stack of a sample is complete */
	int came;			    /* result of unwinder_collect() */
	int error;			    /* result of unwinder_finish() */
	bool guesses;
	bool woken; /* the key of all samples, by unwinder_collect() */
	uint32_t collected, published, last;
	uint64_t waited_ns, known_ns, copied_bytes;
	struct unwinder_counts counts;
	struct made_change changes[MADE_CHANGES_MAX];
	size_t change_count;
	uint32_t saw;			      /* samples with bytes of code */
	bool doubts;			      /* of all processes */
	bool goes_on;			      /* code that is not checked */
	bool (*is_checked)(uint64_t time_ns); /* the code of a sample is vouched for */
	struct code_verdict verdicts[4];      /* to be taken, the last one first */
	size_t verdict_count;
	struct made_change mapped; /* the last unwinder_mapped() */
	uint16_t code_kinds[4];	   /* of events in unwinder_code_changes(); 0: no event */
	size_t code_kind_count, mapped_count;
	bool keeps_code;
	struct known_code code;		/* the only code that is known; size_bytes 0: none is */
	uint32_t untold;		/* result of unwinder_frames_untold() */
	uint32_t told_of;		/* its calls */
	bool told_seen;			/* one had bytes of code */
	size_t forgotten;		/* processes, in unwinder_forget_processes() */
	const struct found_news *found; /* to be taken; its code is freed */
};

/* The only instance. */
static struct unwinder made_unwinder;

static const struct unwind_service made_service;
static const struct unwind_tables made_tables;
static const struct pipeline_options made_unwinding = {
	.unwind_service = &made_service,
	.unwind_tables = &made_tables,
};

int unwinder_create(const struct unwind_service *service, const struct unwind_tables *tables,
		    const struct module_table *modules, struct unwinder **ret)
{
	made_require(service == &made_service && tables == &made_tables && modules);
	made_unwinder.known_ns = 0;
	*ret = &made_unwinder;
	return 0;
}

void unwinder_destroy(struct unwinder *unwinder)
{
}

int unwinder_finish(struct unwinder *unwinder, const struct process *process,
		    const struct jitbpf_sample *sample, bool last, struct unwind_wait *wait,
		    struct finished_stack *ret)
{
	const uint64_t *frames = (const uint64_t *)sample->words + sample->kernel_words;
	const uint64_t *behind = frames + sample->user_words;
	const struct jitbpf_stack_copy *copy;
	bool ready = unwinder->is_ready(sample->h.time_ns);
	uint32_t words;

	made_require(process && sample->h.flags & JITBPF_SAMPLE_STACK_COPY);
	if (unwinder->error)
		return unwinder->error;
	unwinder->last += last;
	wait->keys[0] = MADE_KEY;
	if (!ready && !last)
		return 1;
	if (sample->h.flags & JITBPF_SAMPLE_USER_REGS)
		behind += sizeof(struct jitbpf_user_regs) / sizeof(*behind);
	copy = (const struct jitbpf_stack_copy *)behind;
	*ret = (struct finished_stack){.count = sample->user_words, .end = JITBPF_END_NO_RULE};
	memcpy(ret->words, frames, ret->count * sizeof(*frames));
	unwinder->counts.finished++;
	if (!ready)
		return 0;
	words = copy->size_bytes / sizeof(uint64_t);
	if (words > JITBPF_USER_FRAMES_MAX - ret->count)
		words = JITBPF_USER_FRAMES_MAX - ret->count;
	memcpy(ret->words + ret->count, copy->data, words * sizeof(uint64_t));
	ret->count += words;
	ret->end = JITBPF_END_ROOT;
	ret->guessed = unwinder->guesses;
	return 0;
}

int unwinder_collect(struct unwinder *unwinder, uint64_t wait_ns, uint64_t known_ns)
{
	made_require(known_ns >= unwinder->known_ns);
	unwinder->collected++;
	unwinder->woken = true;
	unwinder->waited_ns += wait_ns;
	unwinder->known_ns = known_ns;
	return unwinder->came;
}

bool unwinder_take_woken(struct unwinder *unwinder, uint64_t *ret, bool *ret_all)
{
	bool woken = unwinder->woken;

	*ret = MADE_KEY;
	*ret_all = unwinder->woken = false;
	return woken;
}

int unwinder_saw(struct unwinder *unwinder, const struct process *process,
		 const struct jitbpf_sample *sample)
{
	unwinder->saw += !!(sample->h.flags & JITBPF_SAMPLE_CODE_BYTES);
	return 0;
}

bool unwinder_doubts(const struct unwinder *unwinder, const struct process *process)
{
	return unwinder->doubts;
}

int unwinder_check(struct unwinder *unwinder, const struct process *process, uint64_t time_ns,
		   bool last, struct finished_stack *stack, uint64_t *ret_key)
{
	bool checked = !unwinder->doubts || unwinder->is_checked(time_ns);

	made_require(process);
	*ret_key = MADE_KEY;
	if (!checked && !last)
		return 1;
	if (!checked) {
		stack->count = 1;
		stack->replaced = !unwinder->goes_on;
		stack->untold = unwinder->goes_on;
	}
	return 0;
}

uint32_t unwinder_frames_untold(struct unwinder *unwinder, const struct process *process,
				const struct jitbpf_sample *sample,
				const struct jitbpf_code_bytes *seen)
{
	made_require(process && !record_is_unfinished(&sample->h));
	unwinder->told_of++;
	unwinder->told_seen |= seen != NULL;
	return unwinder->untold < sample->user_words ? unwinder->untold : sample->user_words;
}

int unwinder_mapped(struct unwinder *unwinder, const struct process *process, uint64_t address,
		    uint64_t size_bytes, uint64_t time_ns)
{
	unwinder->mapped = (struct made_change){process->pid, address, size_bytes};
	unwinder->mapped_count++;
	return 0;
}

void unwinder_code_changes(struct unwinder *unwinder, const struct process *process,
			   const struct jitbpf_code_event *event, uint64_t time_ns)
{
	if (unwinder->code_kind_count < ARRAY_SIZE(unwinder->code_kinds))
		unwinder->code_kinds[unwinder->code_kind_count] = event ? event->kind : 0;
	unwinder->code_kind_count++;
}

bool unwinder_take_verdict(struct unwinder *unwinder, struct code_verdict *ret)
{
	if (!unwinder->verdict_count)
		return false;
	*ret = unwinder->verdicts[--unwinder->verdict_count];
	return true;
}

void unwinder_end(struct unwinder *unwinder)
{
}

bool unwinder_finds_code(const struct unwinder *unwinder, const struct process *process)
{
	return false;
}

bool unwinder_take_found(struct unwinder *unwinder, struct found_news *ret)
{
	if (!unwinder->found)
		return false;
	*ret = *unwinder->found;
	unwinder->found = NULL;
	return true;
}

void unwinder_forget_processes(struct unwinder *unwinder, struct process *const *processes,
			       size_t count)
{
	for (size_t i = 0; i < count; i++)
		made_require(!processes[i]->mappings);
	unwinder->forgotten += count;
}

static inline void made_note(struct unwinder *unwinder, struct made_change change)
{
	if (unwinder->change_count < MADE_CHANGES_MAX)
		unwinder->changes[unwinder->change_count] = change;
	unwinder->change_count++;
}

void unwinder_process_changed(struct unwinder *unwinder, const struct process *process)
{
	made_note(unwinder, (struct made_change){.pid = process->pid});
}

void unwinder_code_changed(struct unwinder *unwinder, const struct process *process,
			   uint64_t address, uint64_t size_bytes)
{
	made_require(size_bytes && size_bytes <= UINT64_MAX - address);
	made_note(unwinder, (struct made_change){process->pid, address, size_bytes});
}

void unwinder_code_copied(struct unwinder *unwinder, const struct process *process,
			  const struct jitbpf_code *code)
{
	/* A copy follows its load. */
	made_require(unwinder->change_count &&
		     unwinder->changes[unwinder->change_count - 1].address == code->address);
	made_require(process->pid == code->pid);
	unwinder->copied_bytes += code->h.size_bytes - sizeof(*code);
}

void unwinder_keep_code(struct unwinder *unwinder)
{
	unwinder->keeps_code = true;
}

bool unwinder_code_at(struct unwinder *unwinder, const struct process *process, uint64_t address,
		      uint64_t time_ns, struct known_code *ret)
{
	made_require(unwinder->keeps_code && process);
	*ret = unwinder->code;
	return address - ret->address < ret->size_bytes;
}

int unwinder_publish(struct unwinder *unwinder, uint64_t known_ns)
{
	made_require(known_ns == unwinder->known_ns);
	unwinder->published++;
	return 0;
}

/* --- runtime frames, which these samples do not have ------------------------------------ */

int unwinder_runtime_sampled(struct unwinder *unwinder, const struct process *process,
			     const struct jitbpf_sample *sample)
{
	return 0;
}

uint64_t unwinder_runtime_awaits(struct unwinder *unwinder, const struct process *process,
				 const struct jitbpf_sample *sample)
{
	return 0;
}

int unwinder_runtime_merge(struct unwinder *unwinder, const struct process *process,
			   const struct jitbpf_sample *sample, const struct finished_stack *stack,
			   struct merged_stack *ret)
{
	return 0;
}

int unwinder_forked(struct unwinder *unwinder, const struct process *parent,
		    const struct process *child)
{
	return 0;
}

int unwinder_program(struct unwinder *unwinder, const struct process *process,
		     const struct jitbpf_program *program)
{
	return 0;
}

bool unwinder_runtimes_young(const struct unwinder *unwinder)
{
	return false;
}

bool unwinder_runtimes_start(const struct unwinder *unwinder)
{
	return false;
}

bool unwinder_take_runtime(struct unwinder *unwinder, struct runtime_news *ret)
{
	return false;
}

const struct runtime_name *unwinder_take_function(struct unwinder *unwinder)
{
	return NULL;
}

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder)
{
	return unwinder->counts;
}

/* Add a sample whose leaf is followed by a stack copy with the callers. */
static inline struct jitbpf_sample *make_unfinished(struct made_run *run, uint64_t time_ns,
						    uint64_t leaf, const uint64_t *callers,
						    size_t count, uint16_t flags)
{
	size_t regs_bytes = flags & JITBPF_SAMPLE_USER_REGS ? sizeof(struct jitbpf_user_regs) : 0;
	size_t copy_bytes = count * sizeof(*callers);
	struct jitbpf_sample *sample;
	struct jitbpf_stack_copy *copy;

	sample = make_record(
		run, JITBPF_SAMPLE,
		sizeof(*sample) + sizeof(leaf) + regs_bytes + sizeof(*copy) + copy_bytes, time_ns);
	sample->h.flags = flags | JITBPF_SAMPLE_STACK_COPY;
	sample->pid = sample->tid = MADE_PID;
	sample->start_ns = MADE_START;
	sample->user_words = 1;
	sample->user_end = JITBPF_END_NO_RULE;
	strcpy(sample->comm, "thread");
	sample->words[0] = leaf;
	copy = (void *)((uint8_t *)&sample->words[1] + regs_bytes);
	copy->size_bytes = (uint32_t)copy_bytes;
	memcpy(copy->data, callers, copy_bytes);
	return sample;
}

#endif
