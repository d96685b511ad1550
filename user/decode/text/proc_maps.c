/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/text/proc_maps.h"

#include <errno.h>
#include <linux/mman.h>
#include <string.h>

#define DELETED	     " (deleted)"
#define DELETED_SIZE (sizeof(DELETED) - 1)
#define NEWLINE	     "\\012"
#define NEWLINE_SIZE (sizeof(NEWLINE) - 1)

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Decode a number of at least one digit, at most max, and the character behind it. */
static int number(struct cursor *c, unsigned base, uint64_t max, char behind, uint64_t *ret)
{
	const uint8_t *begin = c->at;
	uint64_t value = 0;

	for (; c->at < c->end; c->at++) {
		int digit = digit_of(*c->at);

		if (digit < 0 || digit >= (int)base)
			break;
		if (value > (max - digit) / base)
			return -EBADMSG;
		value = value * base + digit;
	}
	if (c->at == begin || c->at == c->end || *c->at != behind)
		return -EBADMSG;
	c->at++;
	*ret = value;
	return 0;
}

/* Decode "r-xp ". */
static int permissions(struct cursor *c, struct proc_map *map)
{
	static const char letters[] = "rwx";
	static const uint32_t bits[] = {PROT_READ, PROT_WRITE, PROT_EXEC};
	uint8_t text[5];

	if (cursor_read(c, text, sizeof(text)) || text[4] != ' ')
		return -EBADMSG;
	for (int i = 0; i < 3; i++) {
		if (text[i] == letters[i])
			map->protection |= bits[i];
		else if (text[i] != '-')
			return -EBADMSG;
	}
	if (text[3] != 'p' && text[3] != 's')
		return -EBADMSG;
	map->map_flags = text[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	return 0;
}

/* Decode the rest of the line: padding and the path, or nothing. */
static int path(struct cursor *c, struct proc_map *map)
{
	size_t left;

	while (c->at < c->end && *c->at == ' ')
		c->at++;
	left = cursor_left(c);
	if (memchr(c->at, 0, left))
		return -EBADMSG;
	map->path = (const char *)c->at;
	map->path_bytes = left;
	/* A path that is only "(deleted)" has no such suffix. */
	if (left > DELETED_SIZE && !memcmp(c->end - DELETED_SIZE, DELETED, DELETED_SIZE)) {
		map->path_bytes -= DELETED_SIZE;
		map->deleted = true;
	}
	return 0;
}

static int parse_line(struct cursor *c, struct proc_map *ret)
{
	struct proc_map map = {0};
	uint64_t major, minor;

	if (number(c, 16, UINT64_MAX, '-', &map.start) ||
	    number(c, 16, UINT64_MAX, ' ', &map.end) || map.start >= map.end ||
	    permissions(c, &map) || number(c, 16, UINT64_MAX, ' ', &map.file_offset) ||
	    number(c, 16, UINT32_MAX, ':', &major) || number(c, 16, UINT32_MAX, ' ', &minor) ||
	    number(c, 10, UINT64_MAX, ' ', &map.inode) || path(c, &map))
		return -EBADMSG;
	map.dev_major = (uint32_t)major;
	map.dev_minor = (uint32_t)minor;
	*ret = map;
	return 0;
}

int proc_maps_next(struct cursor *text, struct proc_map *ret)
{
	const uint8_t *newline;
	struct cursor line;

	if (!cursor_left(text))
		return 0;
	newline = memchr(text->at, '\n', cursor_left(text));
	if (!newline) {
		text->at = text->end;
		return -EBADMSG;
	}
	line = cursor_of(text->at, newline - text->at);
	text->at = newline + 1;
	return parse_line(&line, ret) ? -EBADMSG : 1;
}

size_t proc_map_path(const struct proc_map *map, char *ret, size_t capacity)
{
	size_t size = 0;

	for (size_t i = 0; i < map->path_bytes; size++) {
		char c = map->path[i++];

		if (map->path_bytes - i >= NEWLINE_SIZE - 1 &&
		    !memcmp(map->path + i - 1, NEWLINE, NEWLINE_SIZE)) {
			c = '\n';
			i += NEWLINE_SIZE - 1;
		}
		if (size < capacity - 1)
			ret[size] = c;
	}
	ret[size < capacity ? size : capacity - 1] = 0;
	return size;
}
