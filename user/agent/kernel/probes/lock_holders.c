/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/probes/lock_holders.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/scope.h"

#define LOOKS	 3 /* a lock that is held in all of them is held for long */
#define PAUSE_MS 3

int lock_holders_look(void *context, struct jitbpf_lock_holder *ret, size_t most)
{
	AUTO_CLOSE int fd = bpf_iter_create(*(const int *)context);
	size_t done = 0, bytes = most * sizeof(*ret);

	if (fd < 0)
		return -errno;
	while (done < bytes) {
		ssize_t got = read(fd, (char *)ret + done, bytes - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (int)(done / sizeof(*ret));
}

static bool is_same(const struct jitbpf_lock_holder *a, const struct jitbpf_lock_holder *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns && a->owner == b->owner;
}

/* Keep the holders in `all` that are also in `now`. Returns their number. */
static size_t keep_same(struct jitbpf_lock_holder *all, size_t count,
			const struct jitbpf_lock_holder *now, size_t now_count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < now_count && !is_same(&all[i], &now[at]))
			at++;
		if (at < now_count)
			all[kept++] = all[i];
	}
	return kept;
}

static void pause_default(void)
{
	poll(NULL, 0, PAUSE_MS); /* which an attacher process may call */
}

/* Returns true, with gate->holder set, if a lock is held for long. */
static bool is_held(struct lock_gate *gate)
{
	struct jitbpf_lock_holder all[LOCK_HOLDERS_MAX], now[LOCK_HOLDERS_MAX];
	int count = gate->look ? gate->look(gate->context, all, LOCK_HOLDERS_MAX) : 0;

	for (int look = 1; look < LOOKS && count > 0; look++) {
		int now_count;

		(gate->pause ?: pause_default)();
		now_count = gate->look(gate->context, now, LOCK_HOLDERS_MAX);
		count = now_count <= 0 ? 0
				       : (int)keep_same(all, (size_t)count, now, (size_t)now_count);
	}
	if (count > 0)
		gate->holder = all[0];
	return count > 0;
}

bool lock_gate_is_open(struct lock_gate *gate, uint64_t now_ns)
{
	if (gate->looked_ns && now_ns - gate->looked_ns < LOCK_LOOK_NS)
		return false;
	if (is_held(gate))
		gate->held_ns = now_ns;
	else if (!gate->held_ns || now_ns - gate->held_ns >= LOCK_CLEAR_NS)
		gate->looked_ns = 0;
	if (gate->held_ns && now_ns - gate->held_ns < LOCK_CLEAR_NS) {
		gate->closed++;
		gate->looked_ns = now_ns;
		return false;
	}
	return true;
}

void lock_gate_watch(struct lock_gate *gate, uint64_t now_ns)
{
	gate->quiet_ns = now_ns;
}

bool lock_gate_is_quiet(struct lock_gate *gate, uint64_t now_ns)
{
	if (!lock_gate_is_open(gate, now_ns)) {
		gate->quiet_ns = now_ns;
		return false;
	}
	return now_ns - gate->quiet_ns >= LOCK_QUIET_NS;
}
