/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What recording requires of the kernel and the user. */
#ifndef JITBPF_AGENT_LAUNCH_REQUIREMENTS_H
#define JITBPF_AGENT_LAUNCH_REQUIREMENTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns true if a requirement is not met, and writes one line to `words` that
 * says what is missing and what to do about it.
 */
bool requirements_missing(char *words, size_t words_bytes);

#endif
