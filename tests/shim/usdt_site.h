/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds a USDT probe of a loaded library by its ELF note. */
#ifndef JITBPF_TESTS_USDT_SITE_H
#define JITBPF_TESTS_USDT_SITE_H

#include <stdint.h>

struct usdt_site {
	uint8_t *location;
	uint16_t *semaphore;
	char arguments[64];
};

/*
 * symbol is an address inside the library. Returns 0, -ENOENT (no such probe),
 * -EBADMSG (unexpected file) or another negative errno.
 */
int usdt_site_find(const void *symbol, const char *provider, const char *name,
		   struct usdt_site *ret);

#endif
