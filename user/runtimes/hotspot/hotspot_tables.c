/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_tables.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "engines/engines.h"

#define ENTRIES_MAX    4096 /* of a table */
#define STRIDE_MAX     128
#define NAME_BYTES_MAX 96

/* Where the tables are in a process. */
struct table {
	uint64_t at, stride, name, field_name, value, other_value;
};

enum what {
	OFFSET,	  /* of a member */
	ADDRESS,  /* of a static member */
	SIZE,	  /* of a type */
	CONSTANT, /* with a small value */
};

/* What is missing without it. */
enum need {
	NEED_ALL,
	NEED_NOTHING,
	NEED_CODE,
	NEED_CODE_ADDRESSES,
	NEED_CODE_OFFSETS,
};

/* `member` may have two spellings, by version, and be only a part of the name. */
struct wanted {
	enum what what;
	const char *type, *other_type; /* the name of a constant */
	const char *member, *other_member;
	uint16_t *to;
	uint64_t *address;
	enum need need;
	bool is_part, is_found;
};

static int read_table(const struct process_memory *memory, uint64_t bias,
		      const struct hotspot_table_file *file, struct table *ret)
{
	const uint64_t *from[] = {&file->entries,    &file->stride, &file->name,
				  &file->field_name, &file->value,  &file->other_value};
	uint64_t *to[] = {&ret->at,	    &ret->stride, &ret->name,
			  &ret->field_name, &ret->value,  &ret->other_value};

	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		int err = *from[i] ? process_memory_word(memory, *from[i] + bias, to[i]) : 0;

		if (err)
			return err;
		if (i && *to[i] > STRIDE_MAX - 8)
			return -EBADMSG;
	}
	return ret->stride < 16 || !ret->at ? -EBADMSG : 0;
}

/* Read a name up to its NUL, at most NAME_BYTES_MAX bytes of it. */
static int read_name(const struct process_memory *memory, uint64_t address, char *ret)
{
	size_t done = 0;

	memset(ret, 0, NAME_BYTES_MAX + 1);
	while (done < NAME_BYTES_MAX && !memchr(ret, 0, done)) {
		/* No read crosses a boundary that a mapping can end at. */
		size_t piece = 32 - (address + done) % 32;
		int err;

		if (piece > NAME_BYTES_MAX - done)
			piece = NAME_BYTES_MAX - done;
		err = process_memory_read(memory, address + done, ret + done, piece);
		if (err)
			return err;
		done += piece;
	}
	return 0;
}

static bool is_name(const char *name, const char *one, const char *other)
{
	return (one && !strcmp(name, one)) || (other && !strcmp(name, other));
}

static bool is_member(const struct wanted *wanted, const char *name)
{
	if (wanted->is_part)
		return strstr(name, wanted->member);
	return is_name(name, wanted->member, wanted->other_member);
}

/* Returns true if a type, or the name of a constant, is wanted. */
static bool wants_type(const struct wanted *all, size_t count, enum what first, enum what second,
		       const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if ((all[i].what == first || all[i].what == second) &&
		    is_name(name, all[i].type, all[i].other_type))
			return true;
	}
	return false;
}

static int set(const struct process_memory *memory, const struct table *table, uint64_t entry,
	       struct wanted *wanted)
{
	bool is_static = wanted->what == ADDRESS;
	uint64_t value;
	int err = process_memory_word(
		memory, entry + (is_static ? table->other_value : table->value), &value);

	if (err)
		return err;
	wanted->is_found = true;
	if (is_static) {
		*wanted->address = value;
		return 0;
	}
	if (wanted->what == CONSTANT)
		value = (uint32_t)value;
	if (value > HOTSPOT_OFFSET_MAX)
		return -EBADMSG;
	*wanted->to = (uint16_t)value;
	return 0;
}

static int take(const struct process_memory *memory, const struct table *table, uint64_t entry,
		const char *type, const char *member, struct wanted *all, size_t count,
		bool is_types, bool is_constants)
{
	for (size_t i = 0; i < count; i++) {
		struct wanted *one = &all[i];
		bool is_of_kind = is_types	 ? one->what == SIZE
				  : is_constants ? one->what == CONSTANT
						 : one->what == OFFSET || one->what == ADDRESS;
		int err;

		if (!is_of_kind || one->is_found || !is_name(type, one->type, one->other_type) ||
		    (member && !is_member(one, member)))
			continue;
		err = set(memory, table, entry, one);
		if (err)
			return err;
	}
	return 0;
}

/* Look for all that is wanted in one table. */
static int search(const struct process_memory *memory, uint64_t bias,
		  const struct hotspot_table_file *file, struct wanted *all, size_t count,
		  enum what first, enum what second)
{
	char type[NAME_BYTES_MAX + 1] = "", member[NAME_BYTES_MAX + 1] = "";
	uint64_t type_at, last_type = 0, member_at;
	bool has_members = first != second, is_wanted = false;
	struct table table = {0};
	int err = read_table(memory, bias, file, &table);

	for (uint32_t i = 0; i < ENTRIES_MAX && !err; i++) {
		uint64_t entry = table.at + i * table.stride;

		err = process_memory_word(memory, entry + table.name, &type_at);
		if (err || !type_at)
			return err;
		if (type_at != last_type) {
			last_type = type_at;
			err = read_name(memory, type_at, type);
			is_wanted = !err && wants_type(all, count, first, second, type);
		}
		if (err || !is_wanted)
			continue;
		if (has_members) {
			err = process_memory_word(memory, entry + table.field_name, &member_at);
			err = err ?: read_name(memory, member_at, member);
		}
		err = err
			      ?: take(memory, &table, entry, type, has_members ? member : NULL, all,
				      count, first == SIZE, first == CONSTANT);
	}
	return err ?: -EBADMSG; /* a table without an end */
}

/*
 * Set the version from three variables. Java 8 lacks the last one: its virtual machine has versions
 * of its own, and frames of another layout.
 */
static int set_version(const struct process_memory *memory, const uint64_t *variables,
		       struct hotspot_layout *layout)
{
	uint32_t parts[3];
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++) {
		err = variables[i] ? process_memory_read(memory, variables[i], &parts[i],
							 sizeof(parts[i]))
				   : -EBADMSG;
		if (!err && parts[i] > ENGINE_VERSION_PART_MAX)
			err = -EBADMSG;
	}
	if (err)
		return err;
	layout->major = (uint16_t)parts[0];
	layout->minor = (uint16_t)parts[1];
	layout->security = (uint16_t)parts[2];
	layout->has_zero_free_numbers = layout->major >= 20;
	return layout->major < HOTSPOT_MAJOR_MIN || layout->major > HOTSPOT_MAJOR_MAX ? -ENOTSUP
										      : 0;
}

static bool has_all(const struct wanted *all, size_t count, enum need need)
{
	for (size_t i = 0; i < count; i++) {
		if (all[i].need == need && !all[i].is_found)
			return false;
	}
	return true;
}

/* A version between the two forms has neither whole, and gets none. */
static void set_form(const struct wanted *all, size_t count, struct hotspot_code_layout *code)
{
	if (!has_all(all, count, NEED_CODE))
		*code = (struct hotspot_code_layout){0};
	else if (has_all(all, count, NEED_CODE_ADDRESSES))
		code->form = HOTSPOT_CODE_ADDRESSES;
	else if (has_all(all, count, NEED_CODE_OFFSETS))
		code->form = HOTSPOT_CODE_OFFSETS;
	else
		*code = (struct hotspot_code_layout){0};
}

/* Members that machine code is found by. */
#define CODE(type, other_type, member, to)                                                         \
	{                                                                                          \
		OFFSET, type, other_type, member, NULL, &c->to, .need = NEED_CODE                  \
	}
#define CODE_ADDRESSES(type, member, to)                                                           \
	{                                                                                          \
		OFFSET, type, NULL, member, NULL, &c->to, .need = NEED_CODE_ADDRESSES              \
	}
#define CODE_OFFSETS(type, member, to)                                                             \
	{                                                                                          \
		OFFSET, type, NULL, member, NULL, &c->to, .need = NEED_CODE_OFFSETS                \
	}

int hotspot_tables_read(const struct hotspot_file *file, uint64_t bias,
			const struct process_memory *memory, struct hotspot_layout *ret,
			struct hotspot_globals *ret_globals)
{
	struct hotspot_layout l = {0};
	struct hotspot_code_layout *c = &l.code;
	struct hotspot_globals g = {0};
	uint64_t version[3] = {0};
	struct wanted all[] = {
		{OFFSET, "Method", NULL, "_constMethod", NULL, &l.method_const},
		{OFFSET, "ConstMethod", NULL, "_constants", NULL, &l.const_constants},
		{OFFSET, "ConstMethod", NULL, "_constMethod_size", NULL, &l.const_words},
		{OFFSET, "ConstMethod", NULL, "_flags", "_flags._flags", &l.const_flags},
		{OFFSET, "ConstMethod", NULL, "_code_size", NULL, &l.const_code_bytes},
		{OFFSET, "ConstMethod", NULL, "_name_index", NULL, &l.const_name},
		{SIZE, "ConstMethod", NULL, NULL, NULL, &l.const_size},
		{CONSTANT, "ConstMethod::_has_linenumber_table",
		 "ConstMethodFlags::_misc_has_linenumber_table", NULL, NULL, &l.line_flag},
		{OFFSET, "ConstantPool", NULL, "_pool_holder", NULL, &l.constants_holder},
		{SIZE, "ConstantPool", NULL, NULL, NULL, &l.constants_size},
		{OFFSET, "ConstantPool", NULL, "_source_file_name_index", NULL, &l.constants_source,
		 .need = NEED_NOTHING},
		{OFFSET, "InstanceKlass", NULL, "_source_file_name_index", NULL, &l.class_source,
		 .need = NEED_NOTHING},
		{OFFSET, "InstanceKlass", NULL, "_methods", NULL, &l.class_methods},
		{OFFSET, "InstanceKlass", NULL, "_constants", NULL, &l.class_constants},
		{OFFSET, "Klass", NULL, "_name", NULL, &l.class_name},
		{OFFSET, "Symbol", NULL, "_length", NULL, &l.symbol_length},
		{OFFSET, "Symbol", NULL, "_body", "_body[0]", &l.symbol_bytes},
		{OFFSET, "Array<int>", NULL, "_length", NULL, &l.array_length},
		{OFFSET, "Array<Method*>", NULL, "_data", "_data[0]", &l.array_methods},
		{OFFSET, "StubQueue", NULL, "_stub_buffer", NULL, &g.code_start},
		{OFFSET, "StubQueue", NULL, "_buffer_limit", NULL, &g.code_bytes},
		{ADDRESS, "AbstractInterpreter", NULL, "_code", NULL, .address = &g.interpreter},
		{ADDRESS, "vmClasses", "SystemDictionary", "Object_klass", NULL,
		 .address = &g.object_class, .is_part = true},
		{ADDRESS, "Abstract_VM_Version", NULL, "_vm_major_version", NULL,
		 .address = &version[0]},
		{ADDRESS, "Abstract_VM_Version", NULL, "_vm_minor_version", NULL,
		 .address = &version[1]},
		{ADDRESS, "Abstract_VM_Version", NULL, "_vm_security_version", NULL,
		 .address = &version[2]},
		{ADDRESS, "StubRoutines", NULL, "_call_stub_return_address", NULL,
		 .address = &g.call_stub, .need = NEED_NOTHING},
		{ADDRESS, "CodeCache", NULL, "_heaps", NULL, .address = &c->heaps,
		 .need = NEED_CODE},
		CODE("GrowableArrayBase", "GenericGrowableArray", "_len", heaps_count),
		CODE("GrowableArray<int>", NULL, "_data", heaps_data),
		CODE("CodeHeap", NULL, "_memory", memory),
		CODE("CodeHeap", NULL, "_segmap", segments),
		CODE("CodeHeap", NULL, "_log2_segment_size", shift),
		CODE("VirtualSpace", NULL, "_low", space_low),
		CODE("VirtualSpace", NULL, "_high", space_high),
		CODE("HeapBlock::Header", NULL, "_length", block_length),
		CODE("HeapBlock::Header", NULL, "_used", block_used),
		{SIZE, "HeapBlock", NULL, NULL, NULL, &c->block_size, .need = NEED_CODE},
		CODE("CodeBlob", NULL, "_name", blob_name),
		CODE("CodeBlob", NULL, "_size", blob_size),
		CODE("CompiledMethod", "nmethod", "_method", compiled_method),
		CODE("nmethod", NULL, "_compile_id", compile_id),
		CODE("nmethod", NULL, "_scopes_pcs_offset", scopes_pcs),
		CODE_ADDRESSES("CodeBlob", "_code_begin", code_start),
		CODE_ADDRESSES("CodeBlob", "_code_end", code_end),
		CODE_ADDRESSES("CompiledMethod", "_scopes_data_begin", scopes_data),
		CODE_ADDRESSES("nmethod", "_dependencies_offset", scopes_pcs_end),
		CODE_ADDRESSES("nmethod", "_metadata_offset", metadata),
		CODE_OFFSETS("CodeBlob", "_code_offset", code_start),
		CODE_OFFSETS("CodeBlob", "_data_offset", code_end),
		CODE_OFFSETS("CodeBlob", "_kind", blob_kind),
		{CONSTANT, "CodeBlobKind::Nmethod", NULL, NULL, NULL, &c->kind_compiled,
		 .need = NEED_CODE_OFFSETS},
		CODE_OFFSETS("CodeBlob", "_relocation_size", relocation_bytes),
		CODE_OFFSETS("CodeBlob", "_mutable_data", mutable),
		CODE_OFFSETS("CodeBlob", "_mutable_data_size", mutable_bytes),
		CODE_OFFSETS("nmethod", "_immutable_data", immutable),
		CODE_OFFSETS("nmethod", "_immutable_data_size", immutable_bytes),
		CODE_OFFSETS("nmethod", "_scopes_data_offset", scopes_data_offset),
	};
	int err = search(memory, bias, &file->members, all, ARRAY_SIZE(all), OFFSET, ADDRESS);

	err = err ?: set_version(memory, version, &l);
	ret->major = l.major;
	ret->minor = l.minor;
	ret->security = l.security;
	err = err ?: search(memory, bias, &file->types, all, ARRAY_SIZE(all), SIZE, SIZE);
	err = err
		      ?: search(memory, bias, &file->constants, all, ARRAY_SIZE(all), CONSTANT,
				CONSTANT);
	if (!err && !has_all(all, ARRAY_SIZE(all), NEED_ALL))
		err = -EBADMSG;
	if (err)
		return err;
	set_form(all, ARRAY_SIZE(all), c);
	*ret = l;
	*ret_globals = g;
	return 0;
}
