/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "state/process/module_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/made_mapping.h"

static const struct owner_key root = {.uid = 0}, user = {.uid = 1000};

static const struct module *add(struct module_table *table, const struct jitbpf_mapping *mapping)
{
	const struct module *module = NULL;

	assert_int_equal(module_table_add(table, mapping, root, &module), 0);
	return module;
}

static const struct module *add_of_user(struct module_table *table,
					const struct jitbpf_mapping *mapping)
{
	const struct module *module = NULL;

	assert_int_equal(module_table_add(table, mapping, user, &module), 0);
	return module;
}

/* A file that claims another one's build ID is a module of its own. */
CASE(test_build_id_is_no_identity)
{
	struct module_table table = {0};
	struct made_mapping made;
	const struct module *a = add(&table, made_mapping(&made, "/lib/a.so", 5, "same"));
	const struct module *b = add(&table, made_mapping(&made, "/mnt/copy.so", 6, "same"));
	const struct module *c = add(&table, made_mapping(&made, "/lib/a.so", 5, "samf"));
	const struct module *d = add(&table, made_mapping(&made, "/lib/a.so", 5, "sam"));

	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_not_equal(a, d);
	assert_ptr_equal(add(&table, made_mapping(&made, "/lib/a.so", 5, "same")), a);
	assert_string_equal(a->path, "/lib/a.so");
	assert_int_equal(a->build_id_bytes, 4);
	assert_memory_equal(a->build_id, "same", 4);
	assert_int_equal(a->inode, 5);
	assert_int_equal(a->pid, 100);
	assert_int_equal(d->number, 3);
	module_table_deinit(&table);
}

/* Files differ by device, inode, generation and path. */
CASE(test_file_is_identity)
{
	struct module_table table = {0};
	struct made_mapping made;
	const struct module *first = add(&table, made_mapping(&made, "/lib/a.so", 5, ""));
	uint64_t *inode[] = {(uint64_t *)&made.mapping.inode,
			     (uint64_t *)&made.mapping.inode_generation};
	uint32_t *dev[] = {&made.mapping.dev_major, &made.mapping.dev_minor};

	assert_ptr_equal(add(&table, &made.mapping), first);
	for (size_t i = 0; i < 2; i++) {
		made_mapping(&made, "/lib/a.so", 5, "");
		++*inode[i];
		assert_ptr_not_equal(add(&table, &made.mapping), first);
		made_mapping(&made, "/lib/a.so", 5, "");
		++*dev[i];
		assert_ptr_not_equal(add(&table, &made.mapping), first);
	}
	assert_ptr_not_equal(add(&table, made_mapping(&made, "/lib/a.s", 5, "")), first);
	assert_ptr_not_equal(add(&table, made_mapping(&made, "/lib/a.so.1", 5, "")), first);
	assert_ptr_equal(add(&table, made_mapping(&made, "/lib/a.so", 5, "")), first);
	assert_int_equal(table.count, 7);
	module_table_deinit(&table);
}

CASE(test_long_path_is_cut)
{
	struct module_table table = {0};
	struct made_mapping made;
	const struct module *a, *b;

	made_mapping(&made, "", 5, "");
	memset(made.path, 'p', 8000);
	a = add(&table, &made.mapping);
	assert_int_equal(strlen(a->path), MODULE_PATH_MAX - 1);
	made.path[7000] = 'q';
	b = add(&table, &made.mapping);
	assert_ptr_equal(a, b);
	module_table_deinit(&table);
}

CASE(test_get)
{
	struct module_table table = {0};
	struct made_mapping made;
	char path[32];

	assert_null(module_table_get(&table, 0));
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", i);
		assert_int_equal(add(&table, made_mapping(&made, path, i + 1, ""))->number, i);
	}
	assert_string_equal(module_table_get(&table, 777)->path, "/lib/777.so");
	assert_null(module_table_get(&table, 1000));
	assert_null(module_table_get(&table, UINT32_MAX));
	module_table_deinit(&table);
}

/* Map `count` files with paths of some size for good. Returns how many got modules of their own. */
static unsigned map_files(struct module_table *table, unsigned count, size_t path_bytes)
{
	const struct module *module;
	struct made_mapping made;
	unsigned own = 0;

	made_mapping(&made, "", 0, "");
	memset(made.path, 'p', path_bytes);
	for (unsigned i = 0; i < count; i++) {
		made.mapping.inode = i + 1;
		module = add_of_user(table, &made.mapping);
		if (module == table->rest)
			continue;
		module_table_map(table, module->number);
		own++;
	}
	return own;
}

/* Checks that a user who maps any number of files leaves modules to others. */
static void check_too_many(size_t path_bytes)
{
	struct module_table table = {0};
	struct made_mapping made;
	unsigned all = MODULES_BYTES_MAX / (MODULE_COST_BYTES + (unsigned)path_bytes);
	unsigned own = map_files(&table, all, path_bytes);
	const struct module *known;

	made_mapping(&made, "", 1, "");
	memset(made.path, 'q', path_bytes);
	known = add_of_user(&table, &made.mapping);
	assert_in_range(own, all / 2, all * 4 / 5);
	assert_ptr_equal(known, table.rest);
	assert_string_equal(known->path, MODULE_REST_PATH);
	assert_int_equal(known->inode, 0);
	assert_ptr_equal(module_table_get(&table, known->number), known);
	assert_int_equal(table.over_budget, all - own + 1);
	for (unsigned i = 0; i < all / 10; i++) {
		known = add(&table, made_mapping(&made, "/bin/other", i + 1, ""));
		assert_string_equal(known->path, "/bin/other");
	}
	module_table_deinit(&table);
}

CASE(test_too_many)
{
	check_too_many(8);
}

CASE(test_too_long_paths)
{
	check_too_many(MODULE_PATH_MAX - 1);
}

/* A user over the part leaves modules that nothing uses, at once. */
CASE(test_unused_give_way)
{
	struct module_table table = {0};
	const struct module *module, *used;
	struct made_mapping made;

	used = add_of_user(&table, made_mapping(&made, "/bin/used", 1, ""));
	module_table_map(&table, used->number);
	for (unsigned i = 0; i < 200000; i++) {
		module = add_of_user(&table, made_mapping(&made, "/bin/a", i + 2, ""));
		assert_ptr_not_equal(module, table.rest);
	}
	assert_ptr_equal(module_table_get(&table, used->number), used);
	assert_int_equal(table.over_budget, 0);
	module_table_deinit(&table);
}

#define SECOND_NS 1000000000ull

/* Sweep often enough to come by each module, and far enough to forget what is unused. */
static void forget(struct module_table *table, uint32_t oldest_epoch, uint64_t *time_ns)
{
	for (int i = 0; i < 60; i++)
		module_table_forget(table, oldest_epoch, *time_ns += SECOND_NS);
}

CASE(test_unused_is_forgotten)
{
	struct module_table table = {0};
	struct made_mapping made;
	const struct module *mapped, *sampled, *unused, *again;
	uint64_t time_ns = SECOND_NS;
	uint32_t number;

	mapped = add(&table, made_mapping(&made, "/bin/mapped", 1, ""));
	module_table_map(&table, mapped->number);
	module_table_map(&table, mapped->number);
	sampled = add(&table, made_mapping(&made, "/bin/sampled", 2, ""));
	module_table_use(&table, sampled->number, 4);
	module_table_use(&table, sampled->number, 3); /* an older epoch that is still open */
	unused = add(&table, made_mapping(&made, "/bin/unused", 3, ""));
	number = unused->number;
	module_table_forget(&table, 3, time_ns);
	module_table_forget(&table, 3, time_ns += MODULE_KEEP_NS);
	assert_ptr_equal(module_table_get(&table, number), unused);
	forget(&table, 3, &time_ns);
	assert_null(module_table_get(&table, number));
	assert_ptr_equal(module_table_get(&table, mapped->number), mapped);
	assert_ptr_equal(module_table_get(&table, sampled->number), sampled);

	/* Its slot has another number from now on. */
	again = add(&table, made_mapping(&made, "/bin/unused", 3, ""));
	assert_int_not_equal(again->number, number);
	assert_int_equal(again->number % (1u << MODULE_SLOT_BITS), number);
	assert_ptr_equal(module_table_get(&table, again->number), again);
	assert_null(module_table_get(&table, number));

	number = sampled->number;
	forget(&table, 4, &time_ns);
	assert_non_null(module_table_get(&table, number));
	forget(&table, 5, &time_ns);
	assert_null(module_table_get(&table, number));
	number = mapped->number;
	module_table_unmap(&table, number);
	forget(&table, 5, &time_ns);
	assert_non_null(module_table_get(&table, number));
	module_table_unmap(&table, number);
	forget(&table, 5, &time_ns);
	assert_int_equal(table.count, 0);
	assert_int_equal(table.budget.used, 0);
	module_table_deinit(&table);
}

/* Files come and go: with room for them, none has too many files. */
CASE(test_rest_is_for_a_while)
{
	struct module_table table = {0};
	struct made_mapping made;
	uint64_t time_ns = SECOND_NS;
	const struct module *rest, *module;

	unsigned all = MODULES_BYTES_MAX / MODULE_COST_BYTES;

	assert_true(map_files(&table, all, 8) < all);
	rest = add_of_user(&table, made_mapping(&made, "/lib/new.so", 1, ""));
	assert_string_equal(rest->path, MODULE_REST_PATH);
	for (unsigned i = 0; i < table.slots.size; i++) {
		if (table.slots.data[i].module != rest)
			module_table_unmap(&table, table.slots.data[i].module->number);
	}
	forget(&table, 0, &time_ns);
	forget(&table, 0, &time_ns);
	assert_int_equal(table.count, 1);
	module = add_of_user(&table, made_mapping(&made, "/lib/new.so", 1, ""));
	assert_string_equal(module->path, "/lib/new.so");
	assert_ptr_equal(module_table_get(&table, rest->number), rest);
	module_table_deinit(&table);
}

/* Numbers of a slot are used up, then it stays empty; no number is given out twice. */
CASE(test_numbers_are_not_reused)
{
	uint32_t uses = 1u << (31 - MODULE_SLOT_BITS);
	struct module_table table = {0};
	uint64_t time_ns = SECOND_NS;
	struct made_mapping made;

	for (uint32_t i = 0; i < uses + 2; i++) {
		const struct module *module = add(&table, made_mapping(&made, "/a", i + 1, ""));

		assert_int_equal(module->number, i < uses ? i << MODULE_SLOT_BITS
							  : (i - uses) << MODULE_SLOT_BITS | 1);
		assert_true(module->number < 1u << 31);
		module_table_forget(&table, 0, time_ns);
		module_table_forget(&table, 0, time_ns += MODULE_KEEP_NS + 1);
		module_table_forget(&table, 0, time_ns);
		assert_int_equal(table.count, 0);
	}
	assert_int_equal(table.slots.size, 2);
	module_table_deinit(&table);
}

CASE(test_held_beyond_the_table)
{
	struct module_table table = {0};
	uint64_t time_ns = SECOND_NS;
	struct made_mapping made;
	const struct module *module =
		module_hold(add(&table, made_mapping(&made, "/bin/held", 1, "")));

	assert_false(module_is_last(module));
	assert_false(module_is_dropped(module));
	forget(&table, 0, &time_ns);
	assert_int_equal(table.count, 0);
	assert_true(module_is_last(module));
	assert_true(module_is_dropped(module));
	assert_string_equal(module->path, "/bin/held");
	module_release(module);
	assert_null(module_hold(NULL));
	module_release(NULL);
	module_table_deinit(&table);
}
