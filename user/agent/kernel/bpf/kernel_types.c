/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/kernel_types.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define VLEN_MASK 0xffff     /* BTF_INFO_VLEN() */
#define DEPTH_MAX 64	     /* of structs in structs */
#define IN_WORK	  UINT32_MAX /* number of a type whose parts are being copied */

/* The oldest supported kernel headers lack these. */
#define KIND_TYPE_TAG 18
#define KIND_ENUM64   19

struct reduction {
	const uint8_t *types;
	const char *strings;
	size_t types_bytes, strings_bytes;
	VEC(uint32_t) offsets; /* offset in `types`, by number of the type */
	uint32_t *numbers;     /* number in `out`, by number of the type; 0: not copied yet */
	kernel_types_bytes out, out_strings;
	uint32_t count; /* of types in `out` */

	const struct kernel_types_wanted *wanted;
	bool first_letters[UINT8_MAX + 1]; /* of the wanted structs */
	VEC(uint32_t) found;		   /* numbers of the wanted structs */
	uint32_t function;		   /* number of the wanted function; 0: not found */
};

static int put(kernel_types_bytes *bytes, const void *from, size_t size_bytes)
{
	if (vec_reserve(bytes, bytes->size + size_bytes))
		return -ENOMEM;
	if (size_bytes)
		memcpy(bytes->data + bytes->size, from, size_bytes);
	bytes->size += size_bytes;
	return 0;
}

/* Sizes of the data after the head of a type, by kind: a fixed part, and one part per vlen. */
static const struct {
	uint8_t fixed_bytes, part_bytes;
} tails[KIND_ENUM64 + 1] = {
	[BTF_KIND_INT] = {sizeof(uint32_t), 0},
	[BTF_KIND_VAR] = {sizeof(uint32_t), 0},
	[BTF_KIND_DECL_TAG] = {sizeof(uint32_t), 0},
	[BTF_KIND_ARRAY] = {sizeof(struct btf_array), 0},
	[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member)},
	[BTF_KIND_UNION] = {0, sizeof(struct btf_member)},
	[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum)},
	[KIND_ENUM64] = {0, 3 * sizeof(uint32_t)},
	[BTF_KIND_DATASEC] = {0, 3 * sizeof(uint32_t)},
	[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param)},
};

/* The kind is at most KIND_ENUM64. */
static size_t tail_bytes(uint32_t info)
{
	return tails[BTF_INFO_KIND(info)].fixed_bytes +
	       (size_t)tails[BTF_INFO_KIND(info)].part_bytes * BTF_INFO_VLEN(info);
}

static const char *name_of(const struct reduction *r, uint32_t offset)
{
	return offset < r->strings_bytes ? r->strings + offset : "";
}

static bool is_same(const char *name, const char *wanted)
{
	return *name == *wanted && !strcmp(name, wanted);
}

static bool is_wanted(const struct reduction *r, const char *name)
{
	for (size_t i = 0; i < r->wanted->count; i++) {
		if (is_same(name, r->wanted->structs[i]))
			return true;
	}
	return false;
}

/* Keep the number of a type that is wanted. */
static int look_at(struct reduction *r, uint32_t number, uint32_t kind, const char *name)
{
	const char *function = r->wanted->function;

	if (kind == BTF_KIND_STRUCT && r->first_letters[(uint8_t)*name] && is_wanted(r, name))
		return vec_push(&r->found, number);
	if (kind == BTF_KIND_FUNC && function && is_same(name, function))
		r->function = number;
	return 0;
}

/*
 * Set the offset of each type, and the numbers of the wanted ones. Returns 0 or a negative errno.
 */
static int index_types(struct reduction *r)
{
	int err = vec_reserve(&r->offsets, r->types_bytes / sizeof(struct btf_type) + 1)
			  ?: vec_push(&r->offsets, 0u); /* void */

	for (size_t i = 0; i < r->wanted->count; i++)
		r->first_letters[(uint8_t)*r->wanted->structs[i]] = true;
	for (size_t at = 0; !err && at < r->types_bytes;) {
		uint32_t number = (uint32_t)r->offsets.size, kind;
		struct btf_type type;
		size_t tail;

		if (r->types_bytes - at < sizeof(type))
			return -EBADMSG;
		memcpy(&type, r->types + at, sizeof(type));
		kind = BTF_INFO_KIND(type.info);
		if (kind > KIND_ENUM64)
			return -EBADMSG;
		tail = tail_bytes(type.info);
		if (r->types_bytes - at - sizeof(type) < tail)
			return -EBADMSG;
		r->offsets.data[r->offsets.size++] = (uint32_t)at; /* there is room */
		at += sizeof(type) + tail;
		if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_FUNC)
			err = look_at(r, number, kind, name_of(r, type.name_off));
	}
	return err;
}

/* Adds a type whose parts have been copied. */
static int add(struct reduction *r, uint32_t number, struct btf_type *type, const void *tail,
	       size_t tail_size)
{
	const char *name = name_of(r, type->name_off);
	int err = 0;

	if (*name) {
		type->name_off = (uint32_t)r->out_strings.size;
		err = put(&r->out_strings, name, strlen(name) + 1);
	}
	err = err ?: put(&r->out, type, sizeof(*type));
	err = err ?: put(&r->out, tail, tail_size);
	r->numbers[number] = ++r->count;
	return err;
}

static int copy(struct reduction *r, uint32_t number, unsigned depth);

static int copy_members(struct reduction *r, uint32_t number, struct btf_type *type, unsigned depth)
{
	uint32_t count = BTF_INFO_VLEN(type->info);
	size_t bytes = count * sizeof(struct btf_member);
	AUTO_FREE struct btf_member *members = malloc(bytes ?: 1);
	int err = members ? 0 : -ENOMEM;

	if (!err)
		memcpy(members, r->types + r->offsets.data[number] + sizeof(*type), bytes);
	for (uint32_t i = 0; i < count && !err; i++) {
		const char *name = name_of(r, members[i].name_off);

		err = copy(r, members[i].type, depth);
		if (err)
			break;
		members[i].type = r->numbers[members[i].type];
		if (*name) {
			members[i].name_off = (uint32_t)r->out_strings.size;
			err = put(&r->out_strings, name, strlen(name) + 1);
		}
	}
	return err ?: add(r, number, type, members, bytes);
}

static int copy_array(struct reduction *r, uint32_t number, struct btf_type *type, unsigned depth)
{
	struct btf_array array;
	int err;

	memcpy(&array, r->types + r->offsets.data[number] + sizeof(*type), sizeof(array));
	err = copy(r, array.type, depth);
	err = err ?: copy(r, array.index_type, depth);
	if (err)
		return err;
	array.type = r->numbers[array.type];
	array.index_type = r->numbers[array.index_type];
	return add(r, number, type, &array, sizeof(array));
}

/* Copy a type and its parts, unless it has been copied. */
static int copy(struct reduction *r, uint32_t number, unsigned depth)
{
	struct btf_type type;
	const uint8_t *tail;
	int err = 0;

	if (number >= r->offsets.size || depth > DEPTH_MAX)
		return -EBADMSG;
	if (r->numbers[number] == IN_WORK) /* the type contains itself */
		return -EBADMSG;
	if (!number || r->numbers[number])
		return 0;
	r->numbers[number] = IN_WORK;
	memcpy(&type, r->types + r->offsets.data[number], sizeof(type));
	tail = r->types + r->offsets.data[number] + sizeof(type);
	switch (BTF_INFO_KIND(type.info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_members(r, number, &type, depth + 1);
	case BTF_KIND_ARRAY:
		return copy_array(r, number, &type, depth + 1);
	case BTF_KIND_PTR:
		type.type = 0;
		return add(r, number, &type, tail, 0);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case KIND_TYPE_TAG:
		err = copy(r, type.type, depth + 1);
		if (!err)
			type.type = r->numbers[type.type];
		return err ?: add(r, number, &type, tail, 0);
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		type.info &= ~(uint32_t)VLEN_MASK; /* without its values, which no program reads */
		return add(r, number, &type, tail, 0);
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		return add(r, number, &type, tail, tail_bytes(type.info));
	default:
		return -EBADMSG;
	}
}

static int copy_found(struct reduction *r)
{
	int err = put(&r->out_strings, "", 1);

	for (size_t i = 0; i < r->found.size && !err; i++)
		err = copy(r, r->found.data[i], 0);
	return err;
}

struct section {
	const void *data;
	size_t size_bytes;
};

/* Types and strings are in two sections each; the second one may be empty. */
static int put_all(const struct section types[2], const struct section strings[2],
		   kernel_types_bytes *ret)
{
	size_t types_bytes = types[0].size_bytes + types[1].size_bytes;
	size_t strings_bytes = strings[0].size_bytes + strings[1].size_bytes;
	const struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = (uint32_t)types_bytes,
		.str_off = (uint32_t)types_bytes,
		.str_len = (uint32_t)strings_bytes,
	};

	if (vec_reserve(ret, ret->size + sizeof(header) + types_bytes + strings_bytes))
		return -ENOMEM;
	/* put() cannot fail: the memory is reserved. */
	(void)put(ret, &header, sizeof(header));
	for (size_t i = 0; i < 2; i++)
		(void)put(ret, types[i].data, types[i].size_bytes);
	for (size_t i = 0; i < 2; i++)
		(void)put(ret, strings[i].data, strings[i].size_bytes);
	return 0;
}

/* Set the types and strings of a reduction to the sections of btf. Returns 0 or -EBADMSG. */
static int find_sections(struct reduction *r, const uint8_t *btf, size_t size_bytes)
{
	struct btf_header header;
	size_t left;

	if (size_bytes < sizeof(header))
		return -EBADMSG;
	memcpy(&header, btf, sizeof(header));
	if (header.magic != BTF_MAGIC || header.version != BTF_VERSION ||
	    header.hdr_len < sizeof(header) || header.hdr_len > size_bytes)
		return -EBADMSG;
	left = size_bytes - header.hdr_len;
	if (header.type_off > left || header.type_len > left - header.type_off ||
	    header.str_off > left || header.str_len > left - header.str_off || !header.str_len)
		return -EBADMSG;
	r->types = btf + header.hdr_len + header.type_off;
	r->types_bytes = header.type_len;
	r->strings = (const char *)btf + header.hdr_len + header.str_off;
	r->strings_bytes = header.str_len;
	return r->strings[r->strings_bytes - 1] ? -EBADMSG : 0;
}

int kernel_types_reduce(const void *btf, size_t size_bytes,
			const struct kernel_types_wanted *wanted, kernel_types_bytes *ret,
			uint32_t *ret_function)
{
	struct reduction r = {.wanted = wanted};
	int err = find_sections(&r, btf, size_bytes);

	err = err ?: index_types(&r);
	if (!err) {
		r.numbers = calloc(r.offsets.size, sizeof(*r.numbers)); /* few are touched */
		err = r.numbers ? copy_found(&r) : -ENOMEM;
	}
	err = err
		      ?: put_all((struct section[2]){{r.out.data, r.out.size}},
				 (struct section[2]){{r.out_strings.data, r.out_strings.size}},
				 ret);
	if (!err)
		*ret_function = r.function;
	vec_deinit(&r.offsets);
	vec_deinit(&r.found);
	free(r.numbers);
	vec_deinit(&r.out);
	vec_deinit(&r.out_strings);
	return err;
}

int kernel_types_join(const void *kernel, size_t kernel_bytes, const void *module,
		      size_t module_bytes, kernel_types_bytes *ret)
{
	struct reduction first = {0}, more = {0};
	int err = find_sections(&first, kernel, kernel_bytes);

	err = err ?: find_sections(&more, module, module_bytes);
	return err
		       ?: put_all((struct section[2]){{first.types, first.types_bytes},
						      {more.types, more.types_bytes}},
				  (struct section[2]){{first.strings, first.strings_bytes},
						      {more.strings, more.strings_bytes}},
				  ret);
}
