/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Journals of the test's own process, in memfds as the shim makes them. */
#ifndef JITBPF_TESTS_UNIT_AGENT_PUBLISHER_JOURNAL_OWN_JOURNAL_H
#define JITBPF_TESTS_UNIT_AGENT_PUBLISHER_JOURNAL_OWN_JOURNAL_H

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/file_store.h"
#include "tests/unit/decode/made_journal.h"

#define OWN_JOURNAL_BYTES (1u << 20)

struct own_journal {
	struct jitbpf_journal_header *header; /* the mapped journal */
	size_t size_bytes;
	int fd;
};

/* Make a journal that this process writes since now. Returns 0 or -1. */
static inline int own_journal_init_large(struct own_journal *ret, size_t size_bytes)
{
	ret->size_bytes = size_bytes;
	ret->fd = memfd_create(JITBPF_JOURNAL_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(ret->fd, size_bytes) || fcntl(ret->fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	ret->header = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd, 0);
	if (ret->header == MAP_FAILED)
		return -1;
	*ret->header = made_journal_header(size_bytes);
	ret->header->pid = (uint32_t)getpid();
	ret->header->epoch_ns = clock_now_ns();
	return 0;
}

static inline int own_journal_init(struct own_journal *ret)
{
	return own_journal_init_large(ret, OWN_JOURNAL_BYTES);
}

static inline void own_journal_deinit(struct own_journal *journal)
{
	munmap(journal->header, journal->size_bytes);
	close(journal->fd);
}

/* Append a load with a sequence number; the next event has the number after it. */
static inline void own_journal_append_named(struct own_journal *journal, uint64_t sequence,
					    const char *name)
{
	struct made_journal made = {0};

	made_journal_add(&made, sequence, clock_now_ns(), name, true);
	memcpy((char *)journal->header + journal->header->used_bytes, made.bytes, made.size_bytes);
	journal->header->used_bytes += made.size_bytes;
	journal->header->next_sequence = sequence + 1;
}

static inline void own_journal_append(struct own_journal *journal, uint64_t sequence)
{
	own_journal_append_named(journal, sequence, "f");
}

/* Let the time of a turn pass, after which helpers are not asked. */
static inline void use_up_turn(struct file_store *store)
{
	uint64_t end_ns;

	file_store_begin_turn(store);
	end_ns = clock_now_ns() + FILE_TURN_NS;
	while (clock_now_ns() <= end_ns)
		poll(NULL, 0, 10);
}

#endif
