/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_table.h"

#include <sys/socket.h>

#include "base/scope.h"

#define LOADERS_MAX 6 /* at a time */
#define SILENT_MAX  2 /* at a time for owners that had a silent JVM */

void jvm_table_deinit(struct jvm_table *table)
{
	vec_for_each (jvm, &table->jvms)
		scope_close(&jvm->socket);
	vec_deinit(&table->jvms);
	vec_deinit(&table->silent);
}

struct jvm *jvm_table_find(struct jvm_table *table, uint32_t pid)
{
	vec_for_each (jvm, &table->jvms) {
		if (jvm->pid == pid)
			return jvm;
	}
	return NULL;
}

void jvm_loader_closed(struct jvm *jvm)
{
	scope_close(&jvm->socket);
	jvm->socket = -1;
}

void jvm_settle(struct jvm *jvm)
{
	if (jvm->socket >= 0)
		shutdown(jvm->socket, SHUT_WR);
	jvm->settled = true;
}

static bool is_same(struct owner_key a, struct owner_key b)
{
	return a.uid == b.uid && a.cgroup == b.cgroup;
}

/* Returns false if no JVM is settled. */
static bool forget_settled(struct jvm_table *table, struct owner_key owner)
{
	struct jvm *found = NULL;

	vec_for_each (jvm, &table->jvms) {
		if (jvm->settled && jvm->socket < 0 && (!found || is_same(jvm->owner, owner)))
			found = jvm;
	}
	if (found)
		*found = table->jvms.data[--table->jvms.size];
	return found;
}

bool jvm_table_make_room(struct jvm_table *table, struct owner_key owner)
{
	uint32_t own = 0;

	vec_for_each (jvm, &table->jvms)
		own += !jvm->settled && is_same(jvm->owner, owner);
	return own < JVM_WAITING_MAX &&
	       (table->jvms.size < JVM_ALL_MAX || forget_settled(table, owner));
}

void jvm_table_drop_ended(struct jvm_table *table)
{
	for (size_t i = table->jvms.size; i-- > 0;) {
		struct jvm *jvm = &table->jvms.data[i];

		if (!jvm->pid && jvm->socket < 0)
			*jvm = table->jvms.data[--table->jvms.size];
	}
}

static bool is_silent(const struct jvm_table *table, struct owner_key owner)
{
	vec_for_each (silent, &table->silent) {
		if (is_same(*silent, owner))
			return true;
	}
	return false;
}

int jvm_table_silence(struct jvm_table *table, struct owner_key owner)
{
	return is_silent(table, owner) ? 0 : vec_push(&table->silent, owner);
}

bool jvm_table_may_load(const struct jvm_table *table, struct owner_key owner)
{
	uint32_t all = 0, silent = 0;

	vec_for_each (jvm, &table->jvms) {
		if (jvm->socket < 0)
			continue;
		if (is_same(jvm->owner, owner))
			return false;
		all++;
		silent += is_silent(table, jvm->owner);
	}
	return all < LOADERS_MAX && (silent < SILENT_MAX || !is_silent(table, owner));
}
