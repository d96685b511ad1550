/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/proc/process_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"

#define START_FIELD 22 /* of /proc/PID/stat, from 1 */

/* Read a file as a NUL-terminated string. */
static int read_string(process_text *text, uint32_t pid, const char *name)
{
	int err = process_text_read(text, pid, name);

	return err ?: vec_push(text, '\0');
}

int process_inner_pid(process_text *text, uint32_t pid, uint32_t *ret)
{
	int err = read_string(text, pid, "status");
	const char *line = err ? NULL : strstr(text->data, "\nNSpid:");
	const char *last = NULL;

	if (err)
		return err;
	/* One pid for each namespace, the innermost last. */
	for (line = line ? line + strlen("\nNSpid:") : NULL; line && *line == '\t';) {
		last = ++line;
		line += strspn(line, "0123456789");
	}
	if (!last)
		return -ESRCH;
	*ret = (uint32_t)strtoul(last, NULL, 10);
	return 0;
}

int process_user(process_text *text, uint32_t pid, uint32_t *ret)
{
	int err = read_string(text, pid, "status");
	const char *line = err ? NULL : strstr(text->data, "\nUid:");

	if (err)
		return err;
	/* Real, effective, saved and file system user ID. */
	if (!line || sscanf(line, "\nUid: %*u %*u %*u %u", ret) != 1)
		return -ESRCH;
	return 0;
}

int process_stat_parse(const process_text *text, struct process_stat *ret)
{
	const char *comm = strchr(text->data, '(');
	const char *end = comm ? strrchr(comm, ')') : NULL; /* the name may contain ')' */
	const char *at = end;

	for (int field = 2; at && field < START_FIELD; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return -ESRCH;
	*ret = (struct process_stat){
		.comm = comm + 1,
		.comm_bytes = (size_t)(end - comm - 1),
		.start_ticks = strtoull(at, NULL, 10),
	};
	return 0;
}

int process_stat_read(process_text *text, uint32_t pid, struct process_stat *ret)
{
	return read_string(text, pid, "stat") ?: process_stat_parse(text, ret);
}

static uint64_t tick_ns(void)
{
	return 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t process_ticks_ns(uint64_t ticks)
{
	uint64_t now_ns = clock_now_ns(); /* read first, so that the difference is not negative */
	uint64_t asleep_ns = clock_read_ns(CLOCK_BOOTTIME) - now_ns;

	return ticks * tick_ns() > asleep_ns ? ticks * tick_ns() - asleep_ns : 0;
}

uint64_t process_ticks_of(uint64_t boot_ns)
{
	return boot_ns / tick_ns();
}
