/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_losses.h"

#include <stdatomic.h>

static void raise_to(__u64 *at, uint64_t value)
{
	__u64 seen = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (seen < value && !__atomic_compare_exchange_n(at, &seen, value, false,
							    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static void lower_to(__u64 *at, uint64_t value)
{
	__u64 seen = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (seen > value && !__atomic_compare_exchange_n(at, &seen, value, false,
							    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

/* Sets the range of code that an event may end. Returns false if it ends none. */
static bool ends(const struct jitbpf_jit_header *event, uint64_t *ret_start, uint64_t *ret_end)
{
	bool is_unload = event->event == JIT_EVENT_UNLOAD || event->event == JIT_EVENT_JVM_UNLOAD;

	*ret_start = event->address;
	*ret_end = event->address + event->code_bytes;
	if (event->event == JIT_EVENT_JVM_THREAD || event->event == JIT_EVENT_JVM_THREAD_END ||
	    (event->event == JIT_EVENT_UNLOAD && event->method_id)) {
		*ret_start = 0;
		*ret_end = UINT64_MAX;
	}
	return *ret_start < *ret_end &&
	       (is_unload || jit_event_is_load(event->event) || jit_event_is_jvm(event->event) ||
		event->event == JIT_EVENT_UPDATE || event->event == JIT_EVENT_UPDATE_V2);
}

void journal_losses_count(struct journal *journal, const struct jitbpf_jit_header *event)
{
	struct jitbpf_journal_header *header =
		atomic_load_explicit(&journal->header, memory_order_acquire);

	if (!header) {
		atomic_fetch_add(&journal->left_out, 1);
		return;
	}
	raise_to(&header->left_out_last, event->sequence);
	__atomic_fetch_add(&header->left_out, 1, __ATOMIC_RELEASE);
}

void journal_losses_add(struct journal *journal, const struct jitbpf_jit_header *event,
			bool refused)
{
	struct jitbpf_journal_header *header =
		atomic_load_explicit(&journal->header, memory_order_acquire);
	uint64_t start, end;

	if (refused)
		atomic_store(&journal->refused, true);
	if (header && ends(event, &start, &end)) {
		raise_to(&header->unsure.before, event->sequence + 1);
		lower_to(&header->unsure.start, start);
		raise_to(&header->unsure.end, end);
	}
	journal_losses_count(journal, event);
}

/*
 * Threads that were refused the lock extend the range at any time. If one does, between the stores
 * here, the range becomes that of all code.
 */
void journal_losses_applied(struct journal *journal)
{
	struct jitbpf_journal_unsure *unsure = &journal->header->unsure;

	if (!unsure->before || atomic_load(&journal->refused))
		return;
	__atomic_store_n(&unsure->before, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&unsure->start, UINT64_MAX, __ATOMIC_SEQ_CST);
	__atomic_store_n(&unsure->end, 0, __ATOMIC_SEQ_CST);
	if (!atomic_load(&journal->refused))
		return;
	raise_to(&unsure->before, journal->header->next_sequence);
	__atomic_store_n(&unsure->start, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&unsure->end, UINT64_MAX, __ATOMIC_SEQ_CST);
}
