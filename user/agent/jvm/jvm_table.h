/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JVMs that are known, and which of them may have a loader now. Owners (struct jitbpf_owner) do
 * not wait for each other's JVMs: each has one loader at a time. An owner can stop its loader,
 * since the loader has the owner's IDs. A loader's slot is free once the loader has ended. Owners
 * with a JVM that did not answer share a small part of the slots.
 */
#ifndef JITBPF_AGENT_JVM_JVM_TABLE_H
#define JITBPF_AGENT_JVM_JVM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"

#define JVM_WAITING_MAX 256  /* JVMs of an owner that wait; further ones are not loaded into */
#define JVM_ALL_MAX	4096 /* JVMs that are remembered */

struct jvm {
	uint32_t pid; /* 0: the JVM has ended, but its loader has not */
	struct owner_key owner;
	uint64_t seen_ns;  /* time of the mapping by which it was found */
	uint64_t first_ns; /* when it was first examined; 0: not yet */
	uint64_t begun_ns; /* time of the first attempt to load; 0: none */
	uint64_t next_ns;  /* earliest time of the next attempt */
	uint64_t again_ns; /* time between attempts */
	uint64_t start_ticks;
	char comm[16];
	bool unsampled;	 /* it waits for its first sample */
	bool stopped;	 /* the last loader found the process stopped */
	bool answered;	 /* the loader has answered, and is about to end */
	bool settled;	 /* the JVM has an agent, or will not get one */
	int socket;	 /* to the loader; -1: there is none, or it has ended */
	uint64_t end_ns; /* when the loader must have answered */
};

/* Zero-initialized is empty. */
struct jvm_table {
	VEC(struct jvm) jvms;
	VEC(struct owner_key) silent; /* owners of JVMs that have not answered a loader */
};

void jvm_table_deinit(struct jvm_table *table);

/* Returns the JVM with a pid, or NULL. */
struct jvm *jvm_table_find(struct jvm_table *table, uint32_t pid);

/*
 * Returns true if a JVM of an owner may be added. If the table is full, a settled JVM is forgotten,
 * if possible one of the owner. If that JVM maps a library of the VM again, a new loader detects
 * whether it has an agent.
 */
bool jvm_table_make_room(struct jvm_table *table, struct owner_key owner);

/* Drop the JVMs that have ended, with their loaders. */
void jvm_table_drop_ended(struct jvm_table *table);

/* A loader of a JVM of an owner got no answer. Returns 0 or -ENOMEM. */
int jvm_table_silence(struct jvm_table *table, struct owner_key owner);

/* Returns true if the owner may have a further loader now. */
bool jvm_table_may_load(const struct jvm_table *table, struct owner_key owner);

/*
 * The JVM has an agent, or will not get one. Its loader is requested to end. The loader's socket
 * stays open until it has ended: the JVM's owner may have stopped the loader, and gets no second
 * one until then.
 */
void jvm_settle(struct jvm *jvm);

/* The loader has ended. */
void jvm_loader_closed(struct jvm *jvm);

#endif
