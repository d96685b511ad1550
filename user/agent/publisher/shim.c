/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shim as a publisher. JIT records of its probe come through the code ring. This file attaches
 * the probes, and reads the journals for events that the probes did not report.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "agent/patience.h"
#include "agent/publisher/journal/journal_late.h"
#include "agent/publisher/journal/journal_recovery.h"
#include "agent/publisher/probe_trial.h"
#include "agent/publisher/publisher.h"
#include "agent/publisher/shim_copies.h"
#include "agent/publisher/shim_unheard.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"
#include "jitbpf.skel.h"
#include "uapi/kernel_maps.h"

#define LATE_WAIT_NS 500000000ull /* for pending probes, before journals are read */

/* The libraries: the shim, and the agent for Java. Each has journals of its own. */
enum { MEDIUM_SHIM, MEDIUM_JVM, MEDIA };

static const enum jitbpf_publisher medium_publishers[MEDIA] = {
	[MEDIUM_SHIM] = JITBPF_PUBLISHER_SHIM,
	[MEDIUM_JVM] = JITBPF_PUBLISHER_JVMTI,
};

struct medium {
	struct shim_unheard unheard;
	struct journal_late late;
	struct journal_recovery recovery;
};

#define for_each_medium(medium, shim)                                                              \
	for (struct medium *medium = (shim)->media; medium != (shim)->media + MEDIA; medium++)

struct shim {
	struct publisher_host host;
	struct probe_site site; /* the installed shim's, with its place chosen */
	struct shim_copies copies;
	struct medium media[MEDIA];
	uint64_t losses_noted; /* the BPF programs' count when the map was last emptied */
	uint64_t round_ns;     /* start of the current round's drain */
	uint64_t late_end_ns;  /* patience until which late() waits for probes; 0: not begun */
	bool scanned;
};

static void destroy(void *self)
{
	struct shim *shim = self;

	shim_copies_deinit(&shim->copies);
	for_each_medium (medium, shim) {
		shim_unheard_deinit(&medium->unheard);
		journal_late_deinit(&medium->late);
		journal_recovery_deinit(&medium->recovery);
	}
	free(shim);
}

DEFINE_CLEANUP(void *, destroy);

static void init_medium(struct medium *medium, enum jitbpf_publisher publisher,
			const struct publisher_host *host)
{
	journal_late_init(&medium->late);
	journal_recovery_init(&medium->recovery);
	medium->late.publisher = medium->recovery.publisher = publisher;
	medium->late.store = medium->recovery.store = host->files;
	medium->recovery.owners = host->owners;
	medium->late.patience = medium->recovery.patience = host->patience;
	medium->late.processes = host->owners;
}

static int create(const struct publisher_host *host, void **ret, const char **ret_what)
{
	struct shim *shim = calloc(1, sizeof(*shim));
	CLEANUP(destroyp) void *self = shim;
	int err;

	*ret_what = "attaching to the probe of libjitbpf.so";
	if (!shim)
		return -ENOMEM;
	shim->host = *host;
	for (int i = 0; i < MEDIA; i++)
		init_medium(&shim->media[i], medium_publishers[i], host);
	shim->copies = (struct shim_copies){
		.site = &shim->site,
		.program_fd = bpf_program__fd(host->bpf->progs.jit_event),
		.attacher = host->attacher,
		.files = host->files,
		.owners = host->owners,
	};
	err = probe_trial_end(host->trial, host->attacher, &shim->site);
	err = err ?: shim_copies_install(&shim->copies);
	if (!err && *host->trial->jvm_agent.path)
		err = shim_copies_add(&shim->copies, &host->trial->jvm_agent);
	if (err)
		return err;
	*ret = TAKE_PTR(self);
	return 0;
}

/* The journal of a process that did not answer at the start is read whole in a later round. */
static int scanned(void *self, uint32_t pid, const struct proc_map *map)
{
	struct shim *shim = self;

	for_each_medium (medium, shim) {
		pid_vec *pids = &medium->late.pids;

		if (!journal_file_is_mapped(map, medium->late.publisher) ||
		    (pids->size && pids->data[pids->size - 1] == pid))
			continue;
		if (shim->scanned)
			return journal_recovery_note_whole(&medium->recovery, pid,
							   shim->host.came_ns, true);
		return vec_push(pids, pid);
	}
	return 0;
}

static void take_attached(void *self, uint32_t pending, uint64_t attached_ns)
{
	struct shim *shim = self;

	for_each_medium (medium, shim)
		shim_unheard_attached(&medium->unheard, pending, attached_ns);
}

static int note_unanswered(struct shim *shim, struct medium *medium)
{
	int err = 0;

	vec_for_each (pid, &medium->late.unanswered)
		err = err
			      ?: journal_recovery_note_whole(&medium->recovery, *pid,
							     shim->host.came_ns, true);
	medium->late.unanswered.size = 0;
	return err;
}

/* Journals are read after the probes are attached, since the probes report what comes later. */
static int late(void *self, record_taker_fn take, void *take_context)
{
	struct shim *shim = self;
	uint64_t now_ns = patience_now_ns(shim->host.patience);
	int more = 0;

	shim->scanned = true;
	shim->late_end_ns = shim->late_end_ns ?: now_ns + LATE_WAIT_NS;
	shim_copies_take_answers(&shim->copies, take_attached, shim);
	if (now_ns < shim->late_end_ns && shim_copies_are_pending(&shim->copies)) {
		poll(NULL, 0, 1);
		return 1;
	}
	for_each_medium (medium, shim) {
		shim_unheard_read_early(&medium->unheard);
		more = more
			       ?: journal_late_read(&medium->late, shim->host.came_ns, take,
						    take_context);
		more = more ?: note_unanswered(shim, medium);
	}
	return more;
}

/*
 * Events of a process before the copy was attached to went unreported. Journals of processes that
 * ran before came_ns are read by late(). If such a mapping is seen only after that, since a file or
 * an attacher did not answer, its journal is read again. For younger processes, the scan does not
 * know when a mapping was made.
 */
static int see_mapping(void *self, const struct jitbpf_mapping *mapping)
{
	struct shim *shim = self;
	bool jvm = begins_with(path_file(mapping->path), "libjitbpf-jvmti");
	struct medium *medium = &shim->media[jvm ? MEDIUM_JVM : MEDIUM_SHIM];
	const struct shim_copy *copy;
	int err = shim_copies_see(&shim->copies, mapping, &copy);

	if (err || !copy)
		return err;
	if (shim->scanned && !copy->pending && mapping->h.time_ns >= copy->attached_ns)
		return 0;
	return shim_unheard_map(
		&medium->unheard,
		&(struct shim_mapper){
			.pid = mapping->pid,
			.wanted = shim->scanned || mapping->h.time_ns != shim->host.came_ns,
			.pending = copy->pending,
			.attached_ns = copy->attached_ns,
			.from_ns = shim->scanned ? mapping->h.time_ns : shim->host.came_ns,
		});
}

static int see_jit(struct shim *shim, const struct jitbpf_jit *jit)
{
	if (jit->h.size_bytes < sizeof(*jit) || jit->data_bytes > jit->h.size_bytes - sizeof(*jit))
		return PUBLISHER_KEEP; /* the pipeline counts it as malformed */
	if (shim_copies_is_early(&shim->copies, jit) || shim_copies_repeats(&shim->copies, jit))
		return PUBLISHER_DROP;
	return PUBLISHER_KEEP;
}

static int see_fork(struct shim *shim, const struct jitbpf_task *fork)
{
	int err = shim_copies_fork(&shim->copies, fork);

	for_each_medium (medium, shim)
		err = err ?: shim_unheard_fork(&medium->unheard, fork);
	return err;
}

static int see(void *self, const struct jitbpf_record *record)
{
	struct shim *shim = self;

	switch (record->type) {
	case JITBPF_MAPPING:
		return see_mapping(shim, (const struct jitbpf_mapping *)record);
	case JITBPF_FORK:
		return see_fork(shim, (const struct jitbpf_task *)record);
	case JITBPF_EXIT:
		for_each_medium (medium, shim)
			journal_recovery_exited(&medium->recovery,
						((const struct jitbpf_task *)record)->pid);
		return PUBLISHER_KEEP;
	case JITBPF_JIT:
		return see_jit(shim, (const struct jitbpf_jit *)record);
	default:
		return PUBLISHER_KEEP;
	}
}

/*
 * Take the noted losses out of the BPF map. Each loss is removed before its journal is read, so
 * that later losses are noted again. If the map cannot be read, the next round tries again.
 */
static int take_losses(struct shim *shim)
{
	const struct jitbpf_bpf *bpf = shim->host.bpf;
	uint64_t noted =
		__atomic_load_n((const uint64_t *)&bpf->bss->losses_noted, __ATOMIC_ACQUIRE);
	int fd = bpf_map__fd(bpf->maps.jit_losses), err;
	uint32_t left = bpf_map__max_entries(bpf->maps.jit_losses);
	struct journal_recovery *recovery;
	struct jitbpf_jit_loss_key key;
	struct jitbpf_jit_loss lost;

	if (noted == shim->losses_noted)
		return 0;
	for (; left; left--) {
		if (bpf_map_get_next_key(fd, NULL, &key)) {
			if (errno != ENOENT)
				return 0;
			break;
		}
		recovery = &shim->media[key.publisher == JITBPF_PUBLISHER_JVMTI ? MEDIUM_JVM
										: MEDIUM_SHIM]
				    .recovery;
		err = journal_recovery_reserve(recovery);
		if (err)
			return err;
		if (bpf_map_lookup_and_delete_elem(fd, &key, &lost))
			return 0;
		journal_recovery_note(recovery, &(struct journal_loss){
							.pid = key.pid,
							.start_ns = lost.start_ns,
							.first_ns = lost.first_ns,
							.first_sequence = lost.first_sequence,
						});
	}
	shim->losses_noted = noted;
	return 0;
}

static int note_unheard(struct medium *medium)
{
	int err = shim_unheard_settle(&medium->unheard);

	if (err)
		return err;
	vec_for_each (mapper, &medium->unheard.mappers) {
		if (!mapper->wanted || mapper->pending)
			continue;
		err = journal_recovery_note_whole(&medium->recovery, mapper->pid, mapper->from_ns,
						  mapper->forked);
		if (err)
			return err;
		mapper->wanted = false;
	}
	return 0;
}

static void forget_unheard(struct medium *medium, uint64_t round_ns)
{
	vec_for_each (loss, &medium->recovery.losses) {
		if (loss->whole)
			shim_unheard_unread(&medium->unheard, loss->pid);
	}
	shim_unheard_forget(&medium->unheard, round_ns);
}

static int end_round(void *self, uint64_t round_ns, bool full, record_taker_fn take,
		     void *take_context)
{
	struct shim *shim = self;
	int err = take_losses(shim);

	shim_copies_take_answers(&shim->copies, take_attached, shim);
	if (!err && shim->round_ns != round_ns) {
		err = shim_copies_end_round(&shim->copies, round_ns);
		err = err ?: shim_waiting_retry(&shim->copies.waiting, see_mapping, shim);
		for_each_medium (medium, shim)
			err = err ?: note_unheard(medium);
		shim->round_ns = round_ns;
	}
	for_each_medium (medium, shim) {
		int more = err < 0 ? err
				   : journal_recovery_read(&medium->recovery, round_ns, full, take,
							   take_context);

		err = more ?: err;
	}
	for_each_medium (medium, shim) {
		if (!err)
			forget_unheard(medium, round_ns);
	}
	return err;
}

static void count(const void *self, uint64_t counters[JITBPF_COUNTER_MAX])
{
	const struct shim *shim = self;
	const struct shim_copies *copies = &shim->copies;

	counters[JITBPF_COUNT_SHIM_COPIES] += copies->attached;
	counters[JITBPF_COUNT_SHIMS_REFUSED] +=
		copies->refused + shim_waiting_count(&copies->waiting, false);
	counters[JITBPF_COUNT_SHIMS_OVER_BUDGET] +=
		copies->over_budget + shim_waiting_count(&copies->waiting, true);
}

const struct publisher_ops publisher_shim = {
	.create = create,
	.destroy = destroy,
	.scanned = scanned,
	.late = late,
	.see = see,
	.round = end_round,
	.count = count,
};
