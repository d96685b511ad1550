/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/caller_group.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (16u << 10) /* longer than any line of /proc/self/maps */
#define IN_NO_FILE   1u

static struct caller *find(struct caller_groups *groups, uint64_t address)
{
	if (groups->last < groups->count && groups->callers[groups->last].address == address)
		return &groups->callers[groups->last];
	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->callers[i].address == address) {
			groups->last = i;
			return &groups->callers[i];
		}
	}
	return NULL;
}

void caller_groups_add(struct caller_groups *groups, uint64_t caller)
{
	if (find(groups, caller))
		return;
	if (groups->count == CALLERS_MAX)
		groups->unsure = true;
	else
		groups->callers[groups->count++] =
			(struct caller){.address = caller, .group = IN_NO_FILE};
}

uint32_t caller_groups_get(struct caller_groups *groups, uint64_t caller)
{
	const struct caller *found = find(groups, caller);

	return found ? found->group : IN_NO_FILE;
}

/* libc's conversions look at the locale. Steps over the number and one character more. */
static uint64_t number(const char **at, unsigned int base)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		unsigned int digit = (unsigned char)**at;

		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if (digit >= 'a' && digit <= 'f')
			digit -= 'a' - 10;
		else
			break;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	if (**at)
		(*at)++;
	return value;
}

/* "start-end perms offset major:minor inode path" */
static void line_apply(struct caller_groups *groups, const char *at)
{
	uint64_t start = number(&at, 16), end = number(&at, 16), device, inode;

	at = strchr(at, ' ');
	if (!at++)
		return;
	number(&at, 16);
	device = number(&at, 16) << 20;
	device |= number(&at, 16);
	inode = number(&at, 10);
	if (!inode)
		return;
	for (uint32_t i = 0; i < groups->count; i++) {
		struct caller *caller = &groups->callers[i];

		if (caller->address >= start && caller->address < end)
			caller->file = device << 40 ^ inode;
	}
}

/* Apply the whole lines of the buffer. Returns how many bytes they were. */
static size_t lines_apply(struct caller_groups *groups, char *buffer, size_t size_bytes)
{
	char *line = buffer, *end;

	while ((end = memchr(line, '\n', size_bytes - (size_t)(line - buffer)))) {
		*end = 0;
		line_apply(groups, line);
		line = end + 1;
	}
	return (size_t)(line - buffer);
}

/* Each file is a group, with a number by the first caller in it. */
static void unite(struct caller_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		struct caller *caller = &groups->callers[i];
		uint32_t j = 0;

		if (!caller->file) {
			groups->unsure = true;
			continue;
		}
		while (groups->callers[j].file != caller->file)
			j++;
		caller->group = IN_NO_FILE + 1 + j;
	}
}

/* Read /proc/self/maps, where it may be read. */
static void find_files(struct caller_groups *groups, char *buffer)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t held = 0, done;
	ssize_t n;

	if (fd < 0)
		return;
	while (held < BUFFER_BYTES && (n = read(fd, buffer + held, BUFFER_BYTES - held)) > 0) {
		held += (size_t)n;
		done = lines_apply(groups, buffer, held);
		held -= done;
		memmove(buffer, buffer + done, held);
	}
	close(fd);
}

void caller_groups_resolve(struct caller_groups *groups, struct scratch *scratch)
{
	char *buffer = scratch_take(scratch, BUFFER_BYTES);

	if (groups->count < 2)
		return;
	find_files(groups, buffer);
	unite(groups);
}
