/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What did not come through the code ring, and stands in the journals of its processes. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "agent/kernel/live_state.h"
#include "agent/kernel/process_scan.h"

/*
 * What was lost on its way through the code ring. A loss is taken out before the
 * journal is read: what is lost meanwhile stands in it already. As struct jit_loss of
 * bpf/jit.bpf.c.
 */
static int recover_lost(struct live_source *live, record_taker_fn take, void *take_context)
{
	uint64_t noted =
		__atomic_load_n((const uint64_t *)&live->bpf->bss->losses_noted, __ATOMIC_ACQUIRE);
	int fd = bpf_map__fd(live->bpf->maps.jit_losses), err = 0;
	struct {
		uint64_t start_ns, first_ns, first_sequence;
	} lost;
	uint32_t pid, left = bpf_map__max_entries(live->bpf->maps.jit_losses);

	if (noted == live->losses_noted)
		left = 0;
	live->losses_noted = noted;
	while (!err && left-- && !bpf_map_get_next_key(fd, NULL, &pid)) {
		if (bpf_map_lookup_and_delete_elem(fd, &pid, &lost))
			break;
		err = journal_recovery_read(&live->recovery,
					    &(struct journal_loss){
						    .pid = pid,
						    .start_ns = lost.start_ns,
						    .first_ns = lost.first_ns,
						    .first_sequence = lost.first_sequence,
					    },
					    take, take_context);
	}
	journal_recovery_close_exited(&live->recovery);
	return err;
}

struct unheard {
	struct live_source *live;
	pid_vec pids;
};

static bool is_followed(void *context, uint32_t pid)
{
	struct live_source *live = context;

	return !live->bpf->rodata->only_tracked || process_filter_has(&live->tracked, pid);
}

static int note_unheard(void *context, const struct jitbpf_record *record)
{
	const struct jitbpf_mapping *mapping = (const struct jitbpf_mapping *)record;
	struct unheard *unheard = context;
	bool was_there = record->time_ns == unheard->live->came_ns;
	enum shim_unheard what;

	if (record->type != JITBPF_MAPPING)
		return 0;
	what = shim_copies_unheard(&unheard->live->copies, mapping);
	if (!what || (what == SHIM_UNHEARD_NEW && was_there))
		return 0;
	if (unheard->pids.size && unheard->pids.data[unheard->pids.size - 1] == mapping->pid)
		return 0;
	return vec_push(&unheard->pids, mapping->pid);
}

/*
 * Copies of the shim have just been attached to. Whoever maps one of them (a child does
 * that from its fork on) may have had events before: they stand in the journals.
 */
static int recover_unheard(struct live_source *live, record_taker_fn take, void *take_context)
{
	struct unheard unheard = {.live = live};
	pid_vec ignored = {0};
	uint64_t cut = 0; /* was counted when we came */
	struct process_scan scan = {
		.files = live->files,
		.came_ns = live->came_ns,
		.wanted = is_followed,
		.wanted_context = live,
		.take = note_unheard,
		.take_context = &unheard,
		.ret_cut = &cut,
		.ret_journals = &ignored,
	};
	int err;

	if (!live->copies.some_unheard)
		return 0;
	err = process_scan(&scan);
	vec_for_each (pid, &unheard.pids)
		err = err
			      ?: journal_recovery_read_whole(&live->recovery, *pid, live->came_ns,
							     take, take_context);
	shim_copies_heard(&live->copies);
	vec_deinit(&ignored);
	vec_deinit(&unheard.pids);
	return err;
}

int live_recover(struct live_source *live, record_taker_fn take, void *take_context)
{
	int err = recover_lost(live, take, take_context);

	return err ?: recover_unheard(live, take, take_context);
}
