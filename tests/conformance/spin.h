/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that runs at one address for a while, so that samples hit exactly that address. */
#ifndef JITBPF_TESTS_CONFORMANCE_SPIN_H
#define JITBPF_TESTS_CONFORMANCE_SPIN_H

#include <stdint.h>

#define SPIN_ROOM 16 /* bytes around an address that are overwritten */

/* Run a single instruction at an address for some CPU time. */
void spin_at(uint8_t *at, uint64_t cpu_ns);

/* Run a function that was called at an address: its return address is at + 1. */
void spin_called_from(uint8_t *at, uint64_t cpu_ns);

#endif
