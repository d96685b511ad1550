/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/thread_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "uapi/code_event.h"
#include "uapi/jit_record.h"
#include "uapi/record.h"

#define COMM_BYTES (JITBPF_COMM_MAX - 1)
#define HEAD_BYTES 7
#define TAIL_BYTES 6

static uint64_t hash_of(uint32_t tid)
{
	return hash_mix(tid, 2);
}

static bool equal(const void *items, uint32_t item, const void *tid)
{
	return ((const struct thread_name *)items)[item].tid == *(const uint32_t *)tid;
}

static struct thread_name *latest(const struct thread_names *names, uint32_t tid)
{
	uint32_t at = index_map_find(&names->index, hash_of(tid), equal, names->names.data, &tid);

	return at == INDEX_MAP_NONE ? NULL : &names->names.data[at];
}

static uint64_t charged_bytes(const char *text)
{
	return sizeof(struct thread_name) + strlen(text) + 1;
}

/* A name that has an end already may end earlier. */
static void end(struct thread_names *names, struct thread_name *name, uint64_t time_ns)
{
	uint64_t until_ns = time_ns > name->from_ns ? time_ns : name->from_ns;

	if (name->until_ns == UINT64_MAX)
		names->ended++;
	if (until_ns < name->until_ns)
		name->until_ns = until_ns;
}

static uint64_t later(uint64_t time_ns, uint64_t by_ns)
{
	return time_ns < UINT64_MAX - 1 - by_ns ? time_ns + by_ns : UINT64_MAX - 1;
}

/* Make names.data[at] the latest name of its tid in the index, linked to the earlier ones. */
static int link_name(struct thread_names *names, uint32_t at)
{
	struct thread_name *name = &names->names.data[at], *before = latest(names, name->tid);
	uint32_t place = before ? (uint32_t)(before - names->names.data) : 0;

	name->previous = before ? place + 1 : 0;
	if (before)
		index_map_remove(&names->index, hash_of(name->tid), place);
	return index_map_insert(&names->index, hash_of(name->tid), at);
}

static int add(struct thread_names *names, struct code_account *account,
	       const struct code_event *event)
{
	struct thread_name name = {
		.tid = (uint32_t)event->method_id,
		.from_ns = event->time_ns,
		.until_ns = UINT64_MAX,
		.sequence = event->origin.sequence,
		.awaits_comm = event->tid == event->method_id,
		.before_run = event->flags & JITBPF_EVENT_BEFORE_RUN,
	};
	size_t bytes = event->name.size_bytes;
	int err;

	if (names->names.size >= THREAD_NAMES_MAX)
		return -EDQUOT;
	if (bytes > JITBPF_THREAD_NAME_MAX)
		bytes = JITBPF_THREAD_NAME_MAX;
	name.text = strndup(event->name.bytes, bytes);
	if (!name.text)
		return -ENOMEM;
	err = code_account_charge(account, charged_bytes(name.text));
	if (err) {
		free(name.text);
		return err;
	}
	err = vec_push(&names->names, name);
	if (!err) {
		err = link_name(names, (uint32_t)names->names.size - 1);
		names->names.size -= err != 0;
	}
	if (!err && event->size_bytes) {
		end(names, &names->names.data[names->names.size - 1],
		    later(event->time_ns, event->size_bytes));
	}
	if (err) {
		code_account_release(account, charged_bytes(name.text));
		free(name.text);
	}
	return err;
}

int thread_names_apply(struct thread_names *names, struct code_account *account,
		       const struct code_event *event)
{
	uint32_t tid = (uint32_t)event->method_id;
	struct thread_name *before;

	if (!tid || tid != event->method_id)
		return 0;
	before = latest(names, tid);
	if (before && event->time_ns < before->from_ns)
		return 0;
	if (event->kind == JITBPF_CODE_THREAD_END) {
		if (before)
			end(names, before, later(event->time_ns, THREAD_NAMES_GRACE_NS));
		return 0;
	}
	if (before)
		end(names, before, event->time_ns);
	return event->name.size_bytes && *event->name.bytes ? add(names, account, event) : 0;
}

bool thread_names_is_abbreviation(const char *comm, const char *name)
{
	size_t comm_bytes = strlen(comm), name_bytes = strlen(name), same = 0;

	while (same < comm_bytes && comm[same] == name[same])
		same++;
	if (same == comm_bytes)
		return same == name_bytes || same == COMM_BYTES;
	/* comm has a surrogate where the name has a character of four bytes. */
	if ((uint8_t)comm[same] == 0xed && (uint8_t)name[same] >= 0xf0)
		return true;
	return comm_bytes == COMM_BYTES && name_bytes > COMM_BYTES && same >= HEAD_BYTES &&
	       !memcmp(comm + HEAD_BYTES, "..", 2) &&
	       !memcmp(comm + HEAD_BYTES + 2, name + name_bytes - TAIL_BYTES, TAIL_BYTES);
}

void thread_names_comm(struct thread_names *names, uint32_t tid, const char *comm, uint64_t time_ns)
{
	struct thread_name *name = latest(names, tid);

	if (!name || time_ns < name->from_ns)
		return;
	if (!name->awaits_comm || !thread_names_is_abbreviation(comm, name->text))
		end(names, name, time_ns);
	name->awaits_comm = false;
}

void thread_names_end(struct thread_names *names, uint32_t tid, uint64_t time_ns)
{
	struct thread_name *name = latest(names, tid);

	if (name && time_ns >= name->from_ns)
		end(names, name, time_ns);
}

void thread_names_end_all(struct thread_names *names, uint64_t time_ns)
{
	vec_for_each (name, &names->names)
		end(names, name, time_ns);
}

void thread_names_gap(struct thread_names *names, const uint64_t *live, size_t live_count,
		      uint64_t time_ns)
{
	vec_for_each (name, &names->names) {
		size_t at = partition_point((size_t)0, live_count, i, live[i] < name->sequence);

		if (at == live_count || live[at] != name->sequence)
			end(names, name, time_ns);
	}
}

const char *thread_names_at(const struct thread_names *names, uint32_t tid, const char *comm,
			    const char *process_comm, uint64_t time_ns)
{
	const struct thread_name *name = latest(names, tid);

	while (name && time_ns < name->from_ns)
		name = name->previous ? &names->names.data[name->previous - 1] : NULL;
	if (!name || time_ns >= name->until_ns)
		return NULL;
	if (name->before_run && strcmp(comm, process_comm) &&
	    !thread_names_is_abbreviation(comm, name->text))
		return NULL;
	return name->text;
}

/*
 * Kept names move to the place of dropped ones, so the index is rebuilt. That happens only when
 * half of the names have ended: the cost per name is constant.
 */
void thread_names_forget(struct thread_names *names, struct code_account *account, uint64_t time_ns)
{
	uint32_t kept = 0, ended = 0;

	if (!names->ended || names->ended < names->names.size / 2)
		return;
	index_map_deinit(&names->index);
	vec_for_each (name, &names->names) {
		bool keep = name->until_ns > time_ns;

		if (keep) {
			names->names.data[kept] = *name;
			/* Without memory for the index, names are dropped. */
			keep = !link_name(names, kept);
		}
		if (keep) {
			ended += names->names.data[kept++].until_ns != UINT64_MAX;
			continue;
		}
		code_account_release(account, charged_bytes(name->text));
		free(name->text);
	}
	names->names.size = kept;
	names->ended = ended;
	if (names->names.capacity / 4 > kept)
		vec_fit(&names->names);
}

void thread_names_deinit(struct thread_names *names, struct code_account *account)
{
	vec_for_each (name, &names->names) {
		code_account_release(account, charged_bytes(name->text));
		free(name->text);
	}
	vec_deinit(&names->names);
	index_map_deinit(&names->index);
	names->ended = 0;
}
