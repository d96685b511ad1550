/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The modules: files whose code is mapped, each once. A module is identified by device, inode,
 * generation, path and build ID. A build ID alone is no identity: anybody can copy it into a file
 * with other names. The first mapping of a module supplies its pid. Module numbers are stable,
 * below 2^31, and never reused.
 *
 * A module is in the table while a mapping or an open epoch uses it, and for MODULE_KEEP_NS
 * after that. A worker that still needs it holds a reference of its own: a module never changes,
 * but for further owners, and its memory is freed with the last reference, on any thread.
 */
#ifndef JITBPF_STATE_PROCESS_MODULE_TABLE_H
#define JITBPF_STATE_PROCESS_MODULE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "engines/engines.h"
#include "uapi/record.h"

#define MODULE_OWNERS_MAX 4

struct module {
	uint32_t number; /* the slot; from bit MODULE_SLOT_BITS on, the slot's earlier uses */
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes; /* 0: none or not known */
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint32_t pid;	  /* a process that had mapped it; gives access to its mount namespace */
	const char *path; /* in the mount namespace of that process, or "[vdso]" and the like */
	struct engine_file file; /* what it is, by its path */
	atomic_uint held;	 /* references besides the table's */
	atomic_bool dropped;	 /* it has left the table for good */
	/*
	 * The first owners of processes that mapped it. Work for the module is charged to one of
	 * them that has room. Only the table's thread adds owners, behind the others.
	 */
	atomic_uint owner_count;
	struct owner_key owners[MODULE_OWNERS_MAX];
};

#define MODULE_PATH_MAX	  4096 /* with its NUL; longer paths are truncated */
#define MODULE_COST_BYTES 512  /* charge of a module, besides its path */
#define MODULES_BYTES_MAX (40u << 20)
#define MODULE_REST_PATH  "[too many files]"

#define MODULE_SLOT_BITS 17
#define MODULE_KEEP_NS	 20000000000ull

struct module_slot {
	struct module *module; /* NULL: the slot is free */
	uint64_t hash;	       /* in the index */
	uint32_t uses;	       /* numbers that the slot has given out */
	uint32_t mappings;     /* of the module, in address spaces and their history */
	uint32_t epochs;       /* the latest epoch that has a location in it, plus 1; 0: none */
	uint64_t used_ns;      /* time of the last sweep that found it in use, or of the first */
	struct budget_owner *owner;
};

/* Zero-initialized is empty. */
struct module_table {
	VEC(struct module_slot) slots;
	VEC(uint32_t) free_slots;
	uint32_t count; /* modules in the table */
	uint32_t next;	/* slot where the next sweep begins */
	struct index_map index;
	struct owner_budget budget; /* in bytes: MODULES_BYTES_MAX, or less */
	uint32_t oldest_epoch;	    /* of the last module_table_forget() */
	uint32_t evict_after;	    /* number of refusals until the next try to evict */
	const struct module *rest;  /* the module of all files over budget; NULL: none yet */
	uint64_t over_budget;	    /* mappings of such files */
};

/*
 * Find or add the module of a mapping that has a file (or is "[vdso]"). A new module is charged to
 * the owner of the process, until it leaves the table. If the owner's part of the budget is used
 * up, its unused modules leave the table at once. If it has none, the mapping gets the module
 * `rest`, which stands for all files over the budget. Returns 0 and sets *ret (owned by the table),
 * or -ENOMEM.
 */
int module_table_add(struct module_table *table, const struct jitbpf_mapping *mapping,
		     struct owner_key owner, const struct module **ret);

/* Lower the limit of the memory of modules, which is MODULES_BYTES_MAX by default. */
void module_table_set_memory(struct module_table *table, uint64_t bytes);

/* Returns NULL if no module in the table has that number. */
const struct module *module_table_get(const struct module_table *table, uint32_t number);

/* Count a mapping of a module in the table; or remove one from the count. */
void module_table_map(struct module_table *table, uint32_t number);
void module_table_unmap(struct module_table *table, uint32_t number);

/*
 * Note that an epoch has a location in a module. Epochs are closed in the order of their numbers.
 */
void module_table_use(struct module_table *table, uint32_t number, uint32_t epoch);

/*
 * Remove modules that no mapping and no epoch from oldest_epoch on has used for MODULE_KEEP_NS.
 * A call looks at a bounded number of modules; call it once a round.
 */
void module_table_forget(struct module_table *table, uint32_t oldest_epoch, uint64_t time_ns);

/*
 * Hold a module that is in the table or held already (NULL is allowed); returns it. Release a
 * held module (NULL is allowed).
 */
const struct module *module_hold(const struct module *module);
void module_release(const struct module *module);

/* Returns true if the caller has the only reference: the module has left the table for good. */
bool module_is_last(const struct module *module);

/*
 * Mark a module that leaves the table. Threads that keep something about a module end that when it
 * is dropped: several of them can hold it, so none of them may have the only reference.
 */
void module_drop(struct module *module);
bool module_is_dropped(const struct module *module);

/* Returns the number of valid entries in module->owners. On any thread. */
static inline uint32_t module_owner_count(const struct module *module)
{
	return atomic_load_explicit(&module->owner_count, memory_order_acquire);
}

void module_table_deinit(struct module_table *table);

#endif
