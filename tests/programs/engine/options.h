/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The test engine's command line. */
#ifndef JITBPF_ENGINE_OPTIONS_H
#define JITBPF_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	const char *mode;
	double seconds;
	uint64_t rate;
	uint64_t loads;
	uint64_t slots;
	uint64_t threads;
	uint64_t iterations;
	uint64_t bytes;
	uint64_t code_bytes;
	uint64_t depth;
	const char *name;
	const char *file;
	const char *how;
	const char *dump;
	bool no_api;
	bool forge;
	bool help;
};

/*
 * Parse a mode and options in any order; the arguments are borrowed. Returns 0,
 * or -EINVAL after a message on stderr.
 */
int options_parse(int argc, char **argv, struct options *ret);

void options_help(void);

#endif
