/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A gate for the registration of uprobes. The kernel takes the lock of each memory map that has the
 * file, and meanwhile blocks all forks of the machine. A process can hold its own lock for as long
 * as it likes: it replaces a mapping by a file of its own FUSE server. So nothing is registered
 * while a thread holds such a lock and sleeps, nor shortly after. A removal takes the same locks,
 * and is not urgent: it also waits until no lock was held for a while.
 *
 * The gate is closed for all files, not only for those that the holder has mapped: a second thread
 * of the holder that forks waits for the lock inside the kernel's semaphore of forks, which the
 * registration of a uprobe in any file needs.
 *
 * A process that takes its lock between the last look and the registration is not noticed.
 */
#ifndef JITBPF_AGENT_KERNEL_PROBES_LOCK_HOLDERS_H
#define JITBPF_AGENT_KERNEL_PROBES_LOCK_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/lock_holder.h"

#define LOCK_HOLDERS_MAX 256	       /* holders that one look finds, at most */
#define LOCK_CLEAR_NS	 1000000000ull /* after the last holder was seen */
#define LOCK_LOOK_NS	 20000000ull   /* between two looks while the gate is closed */
#define LOCK_QUIET_NS	 200000000ull  /* without a holder, before a removal */
#define LOCK_WATCH_NS	 50000000ull   /* between two looks in that time */

/*
 * Search all processes for holders, and write at most `most` of them to ret. Returns their number,
 * or a negative errno. Implemented by the BPF program, and by tests.
 */
typedef int (*lock_look_fn)(void *context, struct jitbpf_lock_holder *ret, size_t most);

struct lock_gate {
	lock_look_fn look; /* NULL: the gate is always open */
	void *context;
	void (*pause)(void); /* a few ms; NULL: the default */

	uint64_t looked_ns;		  /* 0: the gate was not closed since it was last open */
	uint64_t held_ns;		  /* when a holder was last seen; 0: never */
	uint64_t quiet_ns;		  /* no holder was seen since then; 0: no watch */
	struct jitbpf_lock_holder holder; /* the last holder that was seen */
	uint64_t closed;		  /* number of times that the gate was found closed */
};

/*
 * Returns true if a uprobe may be registered now. The call takes 50 us if there is no holder, and
 * at most 10 ms. If the look fails, the gate is open: the kernel may lack what it needs.
 */
bool lock_gate_is_open(struct lock_gate *gate, uint64_t now_ns);

/*
 * Returns true if a uprobe may be removed now: the gate is open, and was in all calls of the last
 * LOCK_QUIET_NS. After lock_gate_watch(), the caller calls this every LOCK_WATCH_NS.
 */
bool lock_gate_is_quiet(struct lock_gate *gate, uint64_t now_ns);
void lock_gate_watch(struct lock_gate *gate, uint64_t now_ns);

/* A lock_look_fn; context is a pointer to the descriptor of the link of find_lock_holders(). */
int lock_holders_look(void *context, struct jitbpf_lock_holder *ret, size_t most);

#endif
