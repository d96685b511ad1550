/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/media/jitdump.h"

#include <elf.h>
#include <errno.h>

#define MAGIC	      0x4a695444u /* "JiTD" */
#define MAGIC_FOREIGN 0x4454694au /* in the other byte order */
#define VERSION	      1
#define FLAG_TSC      1u

struct file_header {
	uint32_t magic, version;
	uint32_t size_bytes;
	uint32_t machine; /* EM_*; CPython 3.13 leaves it 0 */
	uint32_t reserved;
	uint32_t pid;
	uint64_t time_ns;
	uint64_t flags;
};

struct record_prefix {
	uint32_t kind;
	uint32_t size_bytes; /* of the record, this included */
	uint64_t time_ns;
};

struct load_fields {
	uint32_t pid, tid;
	uint64_t mapped_address; /* where the code runs; as `address` in all engines */
	uint64_t address;
	uint64_t size_bytes;
	uint64_t index;
};

struct move_fields {
	uint32_t pid, tid;
	uint64_t mapped_address;
	uint64_t old_address, address;
	uint64_t size_bytes;
	uint64_t index;
};

struct debug_fields {
	uint64_t address;
	uint64_t count;
};

struct line_fields {
	uint64_t address;
	uint32_t line, discriminator;
};

_Static_assert(sizeof(struct file_header) == 40, "as in the file");
_Static_assert(sizeof(struct record_prefix) == JITDUMP_RECORD_BYTES, "as in the file");
_Static_assert(sizeof(struct load_fields) == 40, "as in the file");
_Static_assert(sizeof(struct move_fields) == 48, "as in the file");
_Static_assert(sizeof(struct line_fields) == 16, "as in the file");

int jitdump_header_decode(struct cursor *bytes, struct jitdump_header *ret)
{
	struct cursor c = *bytes;
	struct file_header header;

	if (cursor_read(&c, &header.magic, sizeof(header.magic)))
		return 0;
	if (header.magic == MAGIC_FOREIGN)
		return -ENOTSUP;
	if (header.magic != MAGIC)
		return -EBADMSG;
	c = *bytes;
	if (cursor_read(&c, &header, sizeof(header)))
		return 0;
	if (header.size_bytes < sizeof(header) || header.size_bytes > JITDUMP_HEADER_MAX)
		return -EBADMSG;
	if (header.version != VERSION || (header.machine != EM_NONE && header.machine != EM_X86_64))
		return -ENOTSUP;
	if (header.flags & FLAG_TSC)
		return -ETIME;
	if (cursor_skip(&c, header.size_bytes - sizeof(header)))
		return 0;
	*bytes = c;
	*ret = (struct jitdump_header){
		.pid = header.pid,
		.reserved = header.reserved,
		.time_ns = header.time_ns,
	};
	return 1;
}

int jitdump_record_size(const struct cursor *bytes, uint32_t *ret_bytes)
{
	struct cursor c = *bytes;
	struct record_prefix prefix;

	if (cursor_read(&c, &prefix, sizeof(prefix)))
		return 0;
	if (prefix.size_bytes < sizeof(prefix))
		return -EBADMSG;
	*ret_bytes = prefix.size_bytes;
	return 1;
}

uint32_t jitdump_record_kind(const struct cursor *bytes)
{
	struct cursor c = *bytes;
	struct record_prefix prefix = {0};

	cursor_read(&c, &prefix, sizeof(prefix));
	return prefix.kind;
}

static bool is_range(uint64_t address, uint64_t size_bytes)
{
	return address && size_bytes && size_bytes <= UINT64_MAX - address;
}

static int decode_load(struct cursor *c, struct jitdump_record *record)
{
	struct load_fields load;

	if (cursor_read(c, &load, sizeof(load)) || cursor_string(c, &record->name) ||
	    cursor_take(c, load.size_bytes, &record->code) ||
	    !is_range(load.address, load.size_bytes))
		return -EBADMSG;
	record->pid = load.pid;
	record->address = load.address;
	record->size_bytes = load.size_bytes;
	return 0;
}

static int decode_move(struct cursor *c, struct jitdump_record *record)
{
	struct move_fields move;

	if (cursor_read(c, &move, sizeof(move)) || !is_range(move.address, move.size_bytes) ||
	    !is_range(move.old_address, move.size_bytes))
		return -EBADMSG;
	record->pid = move.pid;
	record->address = move.address;
	record->old_address = move.old_address;
	record->size_bytes = move.size_bytes;
	return 0;
}

static int decode_debug_info(struct cursor *c, struct jitdump_record *record)
{
	struct debug_fields debug;

	if (cursor_read(c, &debug, sizeof(debug)))
		return -EBADMSG;
	record->address = debug.address;
	record->lines = (struct jitdump_lines){.bytes = *c, .left = debug.count};
	return 0;
}

int jitdump_record_next(struct cursor *bytes, struct jitdump_record *ret)
{
	struct jitdump_record record = {0};
	struct record_prefix prefix;
	uint32_t size_bytes;
	const void *whole;
	struct cursor c;
	int err = jitdump_record_size(bytes, &size_bytes);

	if (err <= 0)
		return err;
	if (cursor_take(bytes, size_bytes, &whole))
		return 0;
	c = cursor_of(whole, size_bytes);
	cursor_read(&c, &prefix, sizeof(prefix));
	record.kind = prefix.kind;
	record.time_ns = prefix.time_ns;
	err = 0;
	if (prefix.kind == JITDUMP_LOAD)
		err = decode_load(&c, &record);
	else if (prefix.kind == JITDUMP_MOVE)
		err = decode_move(&c, &record);
	else if (prefix.kind == JITDUMP_DEBUG_INFO)
		err = decode_debug_info(&c, &record);
	if (err)
		return err;
	*ret = record;
	return 1;
}

int jitdump_line_next(struct jitdump_lines *lines, struct jitdump_line *ret)
{
	static const char same_file[] = "\xff";
	struct cursor c = lines->bytes;
	struct line_fields fields;
	const char *file;

	if (!lines->left)
		return 0;
	if (cursor_read(&c, &fields, sizeof(fields)) || cursor_string(&c, &file))
		return -EBADMSG;
	if (!strcmp(file, same_file))
		file = ret->file ? ret->file : "";
	*ret = (struct jitdump_line){.address = fields.address, .line = fields.line, .file = file};
	lines->bytes = c;
	lines->left--;
	return 1;
}
