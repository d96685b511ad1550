/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that mapped a copy of the shim (shim_copies.h) before its probe was attached, and the
 * children that these forked before that. Their first events were not reported, so their journals
 * must be read. The processes are found by MAPPING and FORK records alone.
 *
 * Empty if zero-initialized. The owner calls shim_unheard_deinit(). Event loop only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_SHIM_UNHEARD_H
#define JITBPF_AGENT_PUBLISHER_SHIM_UNHEARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "uapi/record.h"

struct shim_mapper {
	uint32_t pid;
	bool wanted;	      /* its journal must be read; false: it is kept for its children */
	bool forked;	      /* of a mapper: so is what it has inherited */
	bool unread;	      /* see shim_unheard_unread() */
	uint32_t pending;     /* the probe of the copy is being attached: its request; else 0 */
	uint64_t attached_ns; /* when the probe was attached */
	uint64_t from_ns;     /* of its mapping or its fork: no event of its own is older */
};

struct shim_fork {
	uint32_t pid, parent_pid;
	uint64_t time_ns;
};

struct shim_unheard {
	VEC(struct shim_mapper) mappers; /* one per pid; cleared `wanted`: its journal was read */
	struct index_map index;		 /* of them, by pid */
	VEC(struct shim_fork) forks;	 /* of this drain and the previous one */
	uint64_t round_ns;		 /* start of the previous drain */
};

/*
 * Add a process that maps a copy, or update it: it keeps the later attached_ns, the earlier
 * from_ns, the latest `pending` that is set, and a set `wanted`. Returns 0 or -ENOMEM.
 */
int shim_unheard_map(struct shim_unheard *unheard, const struct shim_mapper *mapper);

/*
 * Note the answer to the request of a probe. attached_ns is 0 if the copy was refused; its mappers
 * then report nothing.
 */
void shim_unheard_attached(struct shim_unheard *unheard, uint32_t pending, uint64_t attached_ns);

/*
 * The journals of mappers that are not wanted are read now. Mappers whose probe is still pending
 * become wanted again: they may write events before the probe is attached.
 */
void shim_unheard_read_early(struct shim_unheard *unheard);

/* Note the fork of a process; that of a thread is ignored. Returns 0 or -ENOMEM. */
int shim_unheard_fork(struct shim_unheard *unheard, const struct jitbpf_task *fork);

/*
 * At the end of a drain: add the children of mappers. Returns 0, or -ENOMEM, after which the next
 * call adds the missing ones.
 */
int shim_unheard_settle(struct shim_unheard *unheard);

/*
 * Before shim_unheard_forget(): the journal of a mapper could not be read in this drain. Forks have
 * copied what was known of it, so their children are to be read, too.
 */
void shim_unheard_unread(struct shim_unheard *unheard, uint32_t pid);

/*
 * At the end of a drain that began at round_ns, after journals were read: drop mappers and forks
 * that can no longer add a child. While a mapper is wanted or unread, all stay.
 */
void shim_unheard_forget(struct shim_unheard *unheard, uint64_t round_ns);

void shim_unheard_deinit(struct shim_unheard *unheard);

#endif
