/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What recording needs of the machine and the user. */
#ifndef JITBPF_AGENT_LAUNCH_REQUIREMENTS_H
#define JITBPF_AGENT_LAUNCH_REQUIREMENTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if something is missing: then words says what, and what to do about it,
 * in one line.
 */
bool requirements_missing(char *words, size_t words_bytes);

#endif
