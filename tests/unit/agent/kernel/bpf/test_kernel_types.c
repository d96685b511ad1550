/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reduced types have the members of the kernel's, at the same offsets. */
#include <stdint.h>

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/kernel/bpf/kernel_types.h"
#include "tests/unit/cases.h"

static const char *const names[] = {"absent", "outer"};
static const struct kernel_types_wanted wanted = {names, 2, "hook"};

/* struct outer { int i; number_t numbers[3]; const struct inner in; struct other *other; } and
 * more.
 */
static struct btf *make(void)
{
	struct btf *btf = btf__new_empty();
	int integer, other, inner, array, constant, pointer, kind, prototype;

	integer = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	other = btf__add_struct(btf, "other", 8);
	assert_int_equal(btf__add_field(btf, "unused", integer, 32, 0), 0);
	inner = btf__add_struct(btf, "inner", 8);
	assert_int_equal(btf__add_field(btf, "first", integer, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "second", integer, 32, 0), 0);
	constant = btf__add_const(btf, inner);
	array = btf__add_array(btf, integer, btf__add_typedef(btf, "number_t", integer), 3);
	pointer = btf__add_ptr(btf, other);
	kind = btf__add_enum(btf, "kind", 4);
	assert_int_equal(btf__add_enum_value(btf, "one", 1), 0);
	prototype = btf__add_func_proto(btf, integer);
	assert_int_equal(btf__add_func_param(btf, "p", pointer), 0);
	assert_true(btf__add_func(btf, "other_hook", BTF_FUNC_GLOBAL, prototype) > 0);
	assert_true(btf__add_func(btf, "hook", BTF_FUNC_GLOBAL, prototype) > 0);
	assert_true(btf__add_struct(btf, "outer", 40) > 0);
	assert_int_equal(btf__add_field(btf, "i", integer, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "numbers", array, 32, 0), 0);
	assert_int_equal(btf__add_field(btf, "in", constant, 128, 0), 0);
	assert_int_equal(btf__add_field(btf, "other", pointer, 192, 0), 0);
	assert_int_equal(btf__add_field(btf, "kind", kind, 288, 0), 0);
	return btf;
}

static const struct btf_member *check_member(const struct btf *btf, const struct btf_type *type,
					     uint32_t i, const char *name, uint32_t bits)
{
	const struct btf_member *member = btf_members(type) + i;

	assert_string_equal(btf__name_by_offset(btf, member->name_off), name);
	assert_int_equal(member->offset, bits);
	return member;
}

static void check_outer(const struct btf *btf)
{
	int number = btf__find_by_name_kind(btf, "outer", BTF_KIND_STRUCT);
	const struct btf_type *outer, *type;

	assert_true(number > 0);
	outer = btf__type_by_id(btf, (uint32_t)number);
	assert_int_equal(btf_vlen(outer), 5);
	assert_int_equal(outer->size, 40);
	type = btf__type_by_id(btf, check_member(btf, outer, 0, "i", 0)->type);
	assert_true(btf_is_int(type) && type->size == 4);
	type = btf__type_by_id(btf, check_member(btf, outer, 1, "numbers", 32)->type);
	assert_true(btf_is_array(type) && btf_array(type)->nelems == 3);
	assert_true(btf_is_typedef(btf__type_by_id(btf, btf_array(type)->type)));
	type = btf__type_by_id(btf, check_member(btf, outer, 2, "in", 128)->type);
	assert_true(btf_is_const(type));
	type = btf__type_by_id(btf, type->type);
	assert_true(btf_is_struct(type));
	check_member(btf, type, 1, "second", 32);
	type = btf__type_by_id(btf, check_member(btf, outer, 3, "other", 192)->type);
	assert_true(btf_is_ptr(type) && !type->type);
	type = btf__type_by_id(btf, check_member(btf, outer, 4, "kind", 288)->type);
	assert_true(btf_is_enum(type) && type->size == 4 && !btf_vlen(type));
	assert_string_equal(btf__name_by_offset(btf, type->name_off), "kind");
}

CASE(keep_their_members)
{
	struct btf *btf = make(), *reduced;
	kernel_types_bytes bytes = {0};
	uint32_t size, function = 0;
	const void *raw = btf__raw_data(btf, &size);

	assert_int_equal(kernel_types_reduce(raw, size, &wanted, &bytes, &function), 0);
	assert_int_equal(function, btf__find_by_name_kind(btf, "hook", BTF_KIND_FUNC));
	reduced = btf__new(bytes.data, (uint32_t)bytes.size);
	assert_non_null(reduced);
	check_outer(reduced);
	assert_true(btf__find_by_name_kind(reduced, "other", BTF_KIND_STRUCT) < 0);
	assert_true(btf__type_cnt(reduced) < btf__type_cnt(btf));
	btf__free(reduced);
	btf__free(btf);
	vec_deinit(&bytes);
}

/* A module's types refer to the kernel's. */
CASE(of_a_module_are_joined)
{
	struct btf *base = make(), *module = btf__new_empty_split(base), *reduced;
	static const char *const of_module[] = {"of_module"};
	const struct kernel_types_wanted wanted_of_module = {of_module, 1, NULL};
	kernel_types_bytes all = {0}, bytes = {0};
	uint32_t base_size, size, function = 1;
	const struct btf_type *type;
	const void *raw_base, *raw;

	assert_true(btf__add_struct(module, "of_module", 40) > 0);
	assert_int_equal(btf__add_field(module, "whole",
					btf__find_by_name_kind(base, "outer", BTF_KIND_STRUCT), 0,
					0),
			 0);
	raw_base = btf__raw_data(base, &base_size);
	raw = btf__raw_data(module, &size);
	assert_int_equal(kernel_types_join(raw_base, base_size, raw, size - 1, &all), -EBADMSG);
	assert_int_equal(kernel_types_join(raw_base, base_size, raw, size, &all), 0);
	assert_int_equal(
		kernel_types_reduce(all.data, all.size, &wanted_of_module, &bytes, &function), 0);
	assert_int_equal(function, 0);
	reduced = btf__new(bytes.data, (uint32_t)bytes.size);
	assert_non_null(reduced);
	check_outer(reduced);
	type = btf__type_by_id(
		reduced, (uint32_t)btf__find_by_name_kind(reduced, "of_module", BTF_KIND_STRUCT));
	check_member(reduced, type, 0, "whole", 0);
	btf__free(reduced);
	btf__free(module);
	btf__free(base);
	vec_deinit(&all);
	vec_deinit(&bytes);
}

/* Every cut, and every byte that is changed, is an error or gives types. */
CASE(are_refused_if_malformed)
{
	struct btf *btf = make();
	kernel_types_bytes bytes = {0};
	uint32_t size, function = 7;
	const void *raw = btf__raw_data(btf, &size);
	uint8_t *changed = malloc(size);

	for (uint32_t cut = 0; cut < size; cut++) {
		memcpy(changed, raw, cut);
		assert_int_equal(kernel_types_reduce(changed, cut, &wanted, &bytes, &function),
				 -EBADMSG);
		assert_true(!bytes.size && function == 7);
	}
	for (uint32_t at = 0; at < size; at++) {
		memcpy(changed, raw, size);
		changed[at] ^= 0xff;
		kernel_types_reduce(changed, size, &wanted, &bytes, &function);
		bytes.size = 0;
	}
	free(changed);
	btf__free(btf);
	vec_deinit(&bytes);
}
