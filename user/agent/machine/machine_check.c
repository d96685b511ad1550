/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/machine/machine_check.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/scope.h"

static int log_if_debugging(enum libbpf_print_level level, const char *format, va_list args)
{
	return getenv("JITBPF_DEBUG") ? vfprintf(stderr, format, args) : 0;
}

void machine_silence_libbpf(void)
{
	libbpf_set_print(log_if_debugging);
}

void machine_found(struct machine_finding *ret, enum machine_state state, const char *what, ...)
{
	va_list args;

	ret->state = state;
	va_start(args, what);
	vsnprintf(ret->what, sizeof(ret->what), what, args);
	va_end(args);
}

void machine_advise(struct machine_finding *ret, const char *advice, ...)
{
	va_list args;

	va_start(args, advice);
	vsnprintf(ret->advice, sizeof(ret->advice), advice, args);
	va_end(args);
}

bool machine_lacks(char *words, size_t words_bytes)
{
	for (const struct machine_check *check = machine_needs; check->key; check++) {
		struct machine_finding finding = {0};

		check->look(&finding);
		if (finding.state != MACHINE_MISSING)
			continue;
		snprintf(words, words_bytes, "%s: %s", finding.what, finding.advice);
		return true;
	}
	return false;
}

bool machine_read_line(const char *path, char *ret, size_t ret_bytes)
{
	AUTO_FCLOSE FILE *file = fopen(path, "re");

	if (!file || !fgets(ret, (int)ret_bytes, file))
		return false;
	ret[strcspn(ret, "\n")] = 0;
	return true;
}

bool machine_namespace_is(const char *kind, unsigned inode)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return !stat(path, &st) && st.st_ino == inode;
}
